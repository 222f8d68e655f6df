// Makes a checkout ready: packages, compiled contracts, cached genesis, bundled command line. Runs on whatever Node (20 or newer) started npm, so it
// uses built-in modules only; everything after the install runs on the Node that package.json pins.
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MINIMUM_NODE_MAJOR = 20;
const SUPPORTED_PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
/** The contracts whose bytecode the genesis is made of. */
const GENESIS_ARTIFACTS = ["TestUSDC", "PurchaseRegistrar", "FundingSource"];
const INTERRUPT_GRACE_MS = 2_000;
const LOCK_TOUCH_MS = 5_000;
const LOCK_STALE_MS = 60_000;
const LOCK_DEADLINE_MS = 15 * 60_000;

/** A failure that a person can act on: its message is one sentence that says what to do. */
class SetupError extends Error {
  name = "SetupError";
}

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part).update("\0"), createHash("sha256")).digest("hex");

const readJson = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
};

/** Throws unless this Node and this machine can run the set-up at all. */
function checkMachine({
  version = process.versions.node,
  platform = process.platform,
  arch = process.arch,
} = {}) {
  if (Number.parseInt(version, 10) < MINIMUM_NODE_MAJOR) {
    throw new SetupError(
      `This is Node ${version}; install Node ${MINIMUM_NODE_MAJOR} or newer (it only starts the set-up, which brings its own) and run the command again.`,
    );
  }
  if (!SUPPORTED_PLATFORMS.includes(`${platform}-${arch}`)) {
    throw new SetupError(
      `There is no Anvil for ${platform}-${arch}; use Linux or macOS on x64 or arm64 (on Windows: inside WSL 2).`,
    );
  }
}

/** Returns a home below the folder for temporary files for a user whose own cannot be written, as in a container: npm keeps its cache there. */
function usableHome() {
  try {
    accessSync(homedir(), constants.W_OK);
    return {};
  } catch {
    const home = join(tmpdir(), `routing-sandbox-home-${process.getuid?.()}`);
    mkdirSync(home, { recursive: true });
    // The npm that runs this script passes the cache of its own home on.
    return { HOME: home, npm_config_cache: join(home, ".npm") };
  }
}

/** Says in one sentence why npm failed and what to do about it, from what npm printed. */
function explainInstallFailure(output) {
  if (/ENOSPC/.test(output)) return "The disk is full; free about 1 GB and run the command again.";
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network request to/.test(output)) {
    return "The package registry cannot be reached; check the network (and npm's registry and proxy settings), then run the command again.";
  }
  if (/SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)|CERT_HAS_EXPIRED/.test(output)) {
    return "The package registry's certificate is not trusted here; point npm's cafile (or NODE_EXTRA_CA_CERTS) at your organisation's certificate and run the command again.";
  }
  if (/E40[13]\b|ENEEDAUTH/.test(output)) {
    return "The package registry refused access; log in to it with npm login, or point npm's registry setting elsewhere, and run the command again.";
  }
  if (/E404|ETARGET|notarget/.test(output)) {
    return "The package registry lacks a pinned version (named above); point npm's registry setting at one that has it and run the command again.";
  }
  if (/EACCES|EPERM|EROFS/.test(output)) {
    return "A file cannot be written (named above); make the checkout and npm's cache belong to you and run the command again.";
  }
  if (/EINTEGRITY/.test(output)) {
    return "A downloaded package is damaged; run npm cache clean --force and then the command again.";
  }
  return "npm could not install the packages (its last lines are above); remove node_modules and run the command again.";
}

/** Runs the set-up in one checkout; a second run of a finished set-up only compares hashes. */
class Setup {
  #root;
  #log;
  #started = performance.now();
  #stampFile;
  #lockFile;
  #child;

  constructor(root, log = (line) => process.stderr.write(`${line}\n`)) {
    this.#root = root;
    this.#log = log;
    this.#stampFile = join(root, "node_modules", ".set-up.json");
    this.#lockFile = join(root, ".set-up.lock");
  }

  async run() {
    checkMachine();
    if (this.#pending().length === 0) return;
    const release = await this.#lock();
    try {
      for (let step = this.#pending()[0]; step !== undefined; step = this.#pending()[0]) {
        await this.#step(step);
      }
      this.#say("ready");
    } finally {
      release();
    }
  }

  // The steps that are due, in order. A due step makes the later ones unknowable, so only the first one is named.
  #pending() {
    const stamp = readJson(this.#stampFile) ?? {};
    if (stamp.packages !== this.#packagesKey() || this.#missingPiece() !== undefined) return ["packages"];
    if (stamp.contracts !== this.#contractsKey() || this.#artifactsKey() === undefined) return ["contracts"];
    const { genesis } = stamp;
    const cached =
      genesis !== undefined && existsSync(join(this.#root, ".genesis", genesis.key, "genesis.json"));
    if (!cached || genesis.from !== this.#genesisSource()) return ["genesis"];
    return this.#isBundled() ? [] : ["bundle"];
  }

  async #step(step) {
    if (step === "packages") {
      const broken = readJson(this.#stampFile)?.packages === this.#packagesKey();
      rmSync(this.#stampFile, { force: true });
      // npm believes its own record of node_modules; only without it does it look at what is really there.
      if (broken) rmSync(join(this.#root, "node_modules"), { recursive: true, force: true });
      await this.#install();
      this.#stamp({ packages: this.#packagesKey() });
    } else if (step === "contracts") {
      this.#stamp({ contracts: undefined });
      await this.#compile();
      this.#stamp({ contracts: this.#contractsKey() });
    } else if (step === "genesis") {
      const from = this.#genesisSource();
      const key = await this.#buildGenesis();
      this.#stamp({ genesis: { key, from } });
    } else {
      await this.#bundle();
    }
  }

  async #install() {
    const { devDependencies } = readJson(join(this.#root, "package.json"));
    const lockFile = join(this.#root, "package-lock.json");
    const lockedBefore = readFileSync(lockFile);
    // npm must itself run on the pinned Node: under an older one it silently skips the optional packages that refuse that one.
    const { code, output } = await this.#execute(
      `installing packages (Node ${devDependencies.node}, Anvil, Hardhat, …)`,
      "npx",
      [
        "--yes",
        "--package",
        `node@${devDependencies.node}`,
        "npm",
        "install",
        "--include=dev",
        "--no-audit",
        "--no-fund",
        "--no-progress",
      ],
    );
    // The lock file is what is installed from, never a result: npm rewrites it where the registry lacks some platforms.
    if (existsSync(lockFile) && !lockedBefore.equals(readFileSync(lockFile)))
      writeFileSync(lockFile, lockedBefore);
    if (code !== 0) {
      this.#log(tail(output));
      throw new SetupError(explainInstallFailure(output));
    }
    const missing = this.#missingPiece();
    if (missing !== undefined) {
      throw new SetupError(
        `npm finished, but ${missing} is missing; remove node_modules, allow install scripts and optional packages in npm's settings, and run the command again.`,
      );
    }
  }

  async #compile() {
    const { code, output } = await this.#execute("compiling contracts", this.#node(), [
      join(this.#root, "node_modules", "hardhat", "dist", "src", "cli.js"),
      "build",
      "--no-tests",
      "--quiet",
    ]);
    if (code !== 0) {
      this.#log(tail(output));
      throw new SetupError(
        "The contracts do not compile (see above); correct them and run the command again.",
      );
    }
    const missing = GENESIS_ARTIFACTS.find((name) => !existsSync(this.#artifact(name)));
    if (missing !== undefined) {
      throw new SetupError(
        `Hardhat compiled, but there is no artifact of ${missing}; remove artifacts and cache and run the command again.`,
      );
    }
  }

  async #buildGenesis() {
    const { code, output, result } = await this.#execute(
      "deploying contracts for the genesis",
      this.#node(),
      [join(this.#root, "scripts", "deploy.ts")],
    );
    const key = result.trim().split("\n").at(-1) ?? "";
    if (code !== 0 || !/^[0-9a-f]{64}$/.test(key)) {
      this.#log(tail(output));
      throw new SetupError(
        /ENOSPC/.test(output)
          ? "The disk is full; free about 1 GB and run the command again."
          : "The genesis could not be built (see above); remove .genesis, artifacts and cache and run the command again.",
      );
    }
    return key;
  }

  async #bundle() {
    const script = join(this.#root, "scripts", "bundle.ts");
    const { code, output } = await this.#execute("bundling the command line", this.#node(), [script]);
    if (code === 0) return;
    this.#log(tail(output));
    throw new SetupError(
      /ENOSPC/.test(output)
        ? "The disk is full; free about 1 GB and run the command again."
        : "The sources cannot be bundled (see above); correct them and run the command again.",
    );
  }

  #node() {
    return join(this.#root, "node_modules", "node", "bin", "node");
  }

  #artifact(name) {
    return join(this.#root, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  }

  // The first thing that an install must have brought and that is not there, in words, or undefined.
  #missingPiece() {
    const modules = join(this.#root, "node_modules");
    const anvilArch = process.arch === "x64" ? "amd64" : process.arch;
    const pieces = [
      ["the pinned Node", "node/bin/node"],
      ["Anvil's binary", `@foundry-rs/anvil-${process.platform}-${anvilArch}/bin/anvil`],
      ["the Solidity compiler", "solc/soljson.js"],
      ["Hardhat", "hardhat/dist/src/cli.js"],
      ["viem", "viem/package.json"],
    ];
    const missing = pieces.find(([, path]) => !existsSync(join(modules, path)));
    if (missing !== undefined) return missing[0];
    const hasEdr = readdirSync(join(modules, "@nomicfoundation")).some((name) =>
      name.startsWith(`edr-${process.platform}-${process.arch}`),
    );
    return hasEdr ? undefined : "Hardhat's network binary (@nomicfoundation/edr) for this platform";
  }

  #packagesKey() {
    const read = (name) => {
      try {
        return readFileSync(join(this.#root, name));
      } catch {
        throw new SetupError(`${name} is missing; run the command in a complete checkout of the project.`);
      }
    };
    return sha256(read("package.json"), read("package-lock.json"));
  }

  #contractsKey() {
    const folder = join(this.#root, "contracts");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".sol") && !name.startsWith("test/"))
      .sort();
    return sha256(
      readFileSync(join(this.#root, "hardhat.config.ts")),
      readFileSync(join(this.#root, "node_modules", "solc", "package.json")),
      ...sources.flatMap((name) => [name, readFileSync(join(folder, name))]),
    );
  }

  #artifactsKey() {
    const files = GENESIS_ARTIFACTS.map((name) => this.#artifact(name));
    return files.every(existsSync) ? sha256(...files.map((file) => readFileSync(file))) : undefined;
  }

  // Everything that the genesis is computed from. deploy.ts derives the real key; this only decides whether to ask it.
  #genesisSource() {
    const folder = join(this.#root, "sandbox", "chain", "genesis");
    const sources = readdirSync(folder)
      .filter((name) => name.endsWith(".ts"))
      .sort();
    return sha256(
      this.#artifactsKey() ?? "",
      readFileSync(join(this.#root, "scripts", "deploy.ts")),
      readFileSync(join(this.#root, "node_modules", "@foundry-rs", "anvil", "package.json")),
      ...sources.map((name) => readFileSync(join(folder, name))),
    );
  }

  // Whether the bundle is there and every source as it was when it was made, by when it was written and how long it is.
  #isBundled() {
    const isAsBundled = (line) => {
      const path = line.replace(/^\S+ \S+ /, "");
      const found = statSync(join(this.#root, path), { throwIfNoEntry: false });
      return found !== undefined && line === `${found.mtimeMs} ${found.size} ${path}`;
    };
    const bundle = join(this.#root, ".bundle");
    const programs = ["main.cjs", "command-line.cjs"].map((name) => join(bundle, "cli", name));
    const sources = readText(join(bundle, "sources.txt"));
    return programs.every(existsSync) && (sources?.split("\n").every(isAsBundled) ?? false);
  }

  #stamp(changes) {
    this.#writeWhole(this.#stampFile, JSON.stringify({ ...readJson(this.#stampFile), ...changes }));
  }

  #writeWhole(file, text) {
    const part = `${file}.${randomUUID()}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(part, text);
    renameSync(part, file);
  }

  #say(what) {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1);
    this.#log(`[set-up ${seconds.padStart(5)} s] ${what}`);
  }

  // Runs a program in the checkout; says what it does now and every ten seconds.
  #execute(what, program, args) {
    this.#say(what);
    const reminder = setInterval(() => this.#say(`still ${what}`), 10_000);
    return new Promise((resolve, reject) => {
      // A process group of its own, so that an interruption reaches the programs that npm starts.
      const child = spawn(program, args, {
        cwd: this.#root,
        env: { ...process.env, ...usableHome() },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      if (child.pid !== undefined) this.#child = child;
      let output = "";
      let result = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
        result += chunk;
      });
      child.stderr.on("data", (chunk) => {
        output += chunk;
      });
      child.once("error", (error) =>
        reject(
          new SetupError(
            error.code === "ENOENT" && program === "npx"
              ? "npm (with npx) was not found; install it with Node, make sure that both are on the PATH, and run the command again."
              : `${basename(program)} could not be started (${error.message}); remove node_modules and run the command again.`,
          ),
        ),
      );
      child.once("close", (code) => resolve({ code, output, result }));
    }).finally(() => {
      clearInterval(reminder);
      this.#child = undefined;
    });
  }

  // The running step ends before the lock is given up: two installs in one checkout would damage each other. A step that does not end
  // on the signal (a shell may lose it while it starts a program) is killed.
  #interrupt(signal) {
    const child = this.#child;
    if (child === undefined) process.exit(130);
    child.once("close", () => process.exit(130));
    process.kill(-child.pid, signal);
    setTimeout(() => process.kill(-child.pid, "SIGKILL"), INTERRUPT_GRACE_MS);
  }

  // One set-up per checkout at a time. The lock appears with its owner already in it (link), is touched while it is held, and
  // is taken over when its owner is dead or silent.
  async #lock() {
    const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
    const deadline = Date.now() + LOCK_DEADLINE_MS;
    let told = false;
    while (!this.#tryLock(own)) {
      const holder = readText(this.#lockFile);
      if (holder === undefined) continue;
      if (this.#isStale(holder)) {
        this.#breakLock(holder);
        continue;
      }
      if (Date.now() > deadline) {
        throw new SetupError(
          `Another set-up (${holder}) has held ${this.#lockFile} for 15 minutes; end that process or remove the file and run the command again.`,
        );
      }
      if (!told)
        this.#say(
          `waiting for another set-up in this checkout (process ${readOwner(holder)?.pid ?? "unknown"})`,
        );
      told = true;
      await pause(200);
    }
    const touch = setInterval(() => utimesSync(this.#lockFile, new Date(), new Date()), LOCK_TOUCH_MS);
    const release = () => {
      clearInterval(touch);
      process.off("exit", release);
      if (readText(this.#lockFile) === own) rmSync(this.#lockFile, { force: true });
    };
    process.once("exit", release);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => this.#interrupt(signal));
    return release;
  }

  #tryLock(own) {
    const part = `${this.#lockFile}.${randomUUID()}`;
    try {
      writeFileSync(part, own);
    } catch (error) {
      throw new SetupError(
        error.code === "ENOSPC"
          ? "The disk is full; free about 1 GB and run the command again."
          : `${this.#root} cannot be written to (${error.code}); make the checkout belong to you and run the command again.`,
      );
    }
    try {
      linkSync(part, this.#lockFile);
      return true;
    } catch (error) {
      if (error.code === "EEXIST") return false;
      throw error;
    } finally {
      unlinkSync(part);
    }
  }

  #isStale(holder) {
    const owner = readOwner(holder);
    if (owner?.host === hostname()) return !isAlive(owner.pid);
    try {
      return Date.now() - statSync(this.#lockFile).mtimeMs > LOCK_STALE_MS;
    } catch {
      return false;
    }
  }

  #breakLock(holder) {
    const aside = `${this.#lockFile}.${randomUUID()}`;
    try {
      renameSync(this.#lockFile, aside);
      // Another process broke it first and took it: give it back.
      if (readText(aside) !== holder) linkSync(aside, this.#lockFile);
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
    } finally {
      rmSync(aside, { force: true });
    }
  }
}

const tail = (output) => output.trimEnd().split("\n").slice(-20).join("\n");

const readText = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

const readOwner = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

try {
  await new Setup(join(dirname(fileURLToPath(import.meta.url)), "..")).run();
} catch (error) {
  process.stderr.write(`set-up: ${error instanceof SetupError ? error.message : (error?.stack ?? error)}\n`);
  process.exitCode = 1;
}
