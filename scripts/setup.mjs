#!/usr/bin/env node
// Makes a checkout ready: packages, compiled contracts, cached genesis, bundled command line. Runs on whatever Node (20 or newer) started npm, so it
// uses built-in modules only; everything after the install runs on the Node that package.json pins.
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { homedir, tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const [stampFile, lockFile] = ["node_modules/.set-up.json", ".set-up.lock"];
const again = "and run the command again.";
const { versions, platform, arch } = process;
/** The compiled contracts whose bytecode the genesis is made of. */
const artifacts = ["TestUSDC", "PurchaseRegistrar", "FundingSource"].map(
  (name) => `artifacts/contracts/${name}.sol/${name}.json`,
);

/** Remedies of a failed step, by what its program prints. */
const diskFull = { ENOSPC: `The disk is full; free about 1 GB ${again}` };
const installFailures = {
  ...diskFull,
  "ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|network request to": `The package registry cannot be reached; check the network (and npm's registry and proxy settings) ${again}`,
  "SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)|CERT_HAS_EXPIRED": `The package registry's certificate is not trusted here; point npm's cafile (or NODE_EXTRA_CA_CERTS) at your organisation's certificate ${again}`,
  "E40[13]\\b|ENEEDAUTH": `The package registry refused access; log in to it with npm login, or point npm's registry setting elsewhere, ${again}`,
  "E404|ETARGET|notarget": `The package registry lacks a pinned version (named above); point npm's registry setting at one that has it ${again}`,
  "EACCES|EPERM|EROFS": `A file cannot be written (named above); make the checkout and npm's cache belong to you ${again}`,
  EINTEGRITY: `A downloaded package is damaged; run npm cache clean --force ${again}`,
  "": `npm could not install the packages (its last lines are above); remove node_modules ${again}`,
};

// The parts, in order: from which files each is made (the bundle has a list of its own), and whether it is there, by the key that its program has printed.
const steps = {
  packages: { from: () => ["package-lock.json"], isThere: () => missingPiece() === undefined, make: install },
  contracts: {
    from: () => ["package-lock.json", "hardhat.config.ts", ...filesIn("contracts", /^(?!test\/).*\.sol$/)],
    isThere: () => artifacts.every(fs.existsSync),
    what: "compiling contracts",
    program: "node_modules/hardhat/dist/src/cli.js build --no-tests --quiet",
    failure: `The contracts do not compile (see above); correct them ${again}`,
  },
  genesis: {
    from: () => ["package-lock.json", ...artifacts, ...filesIn("sandbox/chain/genesis", /\.ts$/)],
    isThere: (key) => fs.existsSync(`.genesis/${key}/genesis.json`),
    what: "deploying contracts for the genesis",
    program: "scripts/deploy.ts",
    failure: `The genesis could not be built (see above); remove .genesis, artifacts and cache ${again}`,
  },
  bundle: {
    isThere: isBundled,
    what: "bundling the command line",
    program: "scripts/bundle.ts",
    failure: `The sources cannot be bundled (see above); correct them ${again}`,
  },
};

class SetupError extends Error {}

const started = performance.now();
let child;
try {
  await setUp();
} catch (error) {
  process.stderr.write(`set-up: ${error instanceof SetupError ? error.message : (error?.stack ?? error)}\n`);
  process.exitCode = 1;
}

async function setUp() {
  if (Number.parseInt(versions.node, 10) < 20)
    throw new SetupError(
      `This is Node ${versions.node}; install Node 20 or newer (it only starts the set-up, which brings its own) ${again}`,
    );
  if (!/^(?:linux|darwin)-(?:x64|arm64)$/.test(`${platform}-${arch}`))
    throw new SetupError(
      `There is no Anvil for ${platform}-${arch}; use Linux or macOS on x64 or arm64 (on Windows: inside WSL 2).`,
    );
  if (firstDue() === undefined) return;
  await lock();
  for (let due = firstDue(); due !== undefined; due = firstDue()) {
    const { what, program, failure, isThere, make } = steps[due];
    const run = () =>
      execute(what, ["node_modules/node/bin/node", ...program.split(" ")], { ...diskFull, "": failure });
    const key = await (make ?? run)();
    if (!isThere(key)) throw new SetupError(failure ?? lacking(missingPiece()));
    fs.writeFileSync(stampFile, JSON.stringify({ ...readStamp(), [due]: { from: hashOf(due), key } }));
  }
  say("ready");
}

/** Returns the first step that is due: until it is made, the later ones are not known. */
function firstDue() {
  const stamp = readStamp();
  const isDue = (name) => stamp[name]?.from !== hashOf(name) || !steps[name].isThere(stamp[name].key);
  return Object.keys(steps).find(isDue);
}

function readStamp() {
  try {
    return JSON.parse(read(stampFile));
  } catch {
    return {};
  }
}

function hashOf(name) {
  const hash = createHash("sha256");
  for (const file of steps[name].from?.() ?? []) hash.update(`${file}\0${read(file)}\0`);
  return hash.digest("hex");
}

async function install() {
  // npm believes its own record of node_modules; only without it does it look at what is really there.
  if (readStamp().packages?.from === hashOf("packages")) fs.rmSync("node_modules", { recursive: true });
  const { version } = JSON.parse(read("package-lock.json")).packages["node_modules/node"];
  // npm must itself run on the pinned Node: under an older one it silently skips the optional packages that refuse that one. It saves nothing,
  // because it would rewrite the lock file where the registry lacks some platforms.
  const npm = `npx --yes --package node@${version} npm install --no-save --include=dev --no-audit --no-fund --no-progress`;
  await execute(`installing packages (Node ${version}, Anvil, Hardhat, …)`, npm.split(" "), installFailures);
}

function lacking(piece) {
  return `npm finished, but ${piece} is missing; remove node_modules, allow install scripts and optional packages in npm's settings, ${again}`;
}

/** Returns the first thing that npm may leave out and that is not there, in words, or undefined. */
function missingPiece() {
  const pieces = {
    "the pinned Node": "node/bin/node",
    "Anvil's binary": `@foundry-rs/anvil-${platform}-${arch === "x64" ? "amd64" : arch}/bin/anvil`,
    "the Solidity compiler": "solc/soljson.js",
    Hardhat: "hardhat/dist/src/cli.js",
  };
  const missing = Object.keys(pieces).find((name) => !fs.existsSync(`node_modules/${pieces[name]}`));
  if (missing !== undefined) return missing;
  const edr = fs
    .readdirSync("node_modules/@nomicfoundation")
    .some((name) => name.startsWith(`edr-${platform}-${arch}`));
  return edr ? undefined : "Hardhat's network binary (@nomicfoundation/edr) for this platform";
}

/** Whether the bundle is there and every source as it was when it was made, by when it was written and how long it is. */
function isBundled() {
  const isAsBundled = (line) => {
    const path = line.replace(/^\S+ \S+ /, "");
    const found = fs.statSync(path, { throwIfNoEntry: false });
    return line === `${found?.mtimeMs} ${found?.size} ${path}`;
  };
  const files = ["cli/main.cjs", "cli/command-line.cjs", "sources.txt"].map((name) => `.bundle/${name}`);
  return files.every(fs.existsSync) && read(files[2]).split("\n").every(isAsBundled);
}

function read(file) {
  if (fs.existsSync(file)) return fs.readFileSync(file, "utf8");
  throw new SetupError(`${file} is missing; run the command in a complete checkout of the project.`);
}

function filesIn(folder, pattern) {
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function say(what) {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stderr.write(`[set-up ${seconds.padStart(5)} s] ${what}\n`);
}

/** Runs a program, and says what it does now and every ten seconds. Returns the key that it prints, if it prints one. */
async function execute(what, [program, ...args], failures) {
  say(what);
  const reminder = setInterval(() => say(`still ${what}`), 10_000);
  const env = { ...process.env, ...usableHome() };
  // A process group of its own, so that an interruption reaches the programs that npm starts.
  child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.once("error", resolve).once("close", resolve));
  clearInterval(reminder);
  child = undefined;
  const output = Buffer.concat(chunks).toString();
  if (code === 0) return /^[0-9a-f]{64}$/m.exec(output)?.[0];
  if (code.code === "ENOENT")
    throw new SetupError(
      `npm (with npx) was not found; install it with Node, make sure that both are on the PATH, ${again}`,
    );
  process.stderr.write(`${output.trimEnd().split("\n").slice(-20).join("\n")}\n`);
  throw new SetupError(failures[Object.keys(failures).find((pattern) => new RegExp(pattern).test(output))]);
}

/** Returns a home for a user whose own cannot be written, as in a container. npm keeps its cache there, and would pass that of the other home on. */
function usableHome() {
  try {
    fs.accessSync(homedir(), fs.constants.W_OK);
    return {};
  } catch {
    const home = `${tmpdir()}/routing-sandbox-home-${process.getuid?.()}`;
    fs.mkdirSync(home, { recursive: true });
    return { HOME: home, npm_config_cache: `${home}/.npm` };
  }
}

/** Waits for other set-ups of this checkout; the next one may begin when this process ends. */
async function lock() {
  const own = `process ${process.pid}, ${randomUUID()}`;
  for (let told = false; !tryLock(own); told = true) {
    if (!told) say("waiting for another set-up in this checkout");
    await pause(200);
  }
  setInterval(() => fs.utimesSync(lockFile, new Date(), new Date()), 1_000).unref();
  process.once("exit", () => {
    if (fs.existsSync(lockFile) && read(lockFile) === own) fs.rmSync(lockFile);
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => interrupt(signal));
}

/** Takes the lock unless another process has it, and has touched it in the last ten seconds. */
function tryLock(own) {
  const isHeld = (file) => Date.now() - fs.statSync(file).mtimeMs < 10_000;
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    if (fs.existsSync(lockFile) && !isHeld(lockFile)) {
      fs.renameSync(lockFile, aside);
      // Another process has taken it meanwhile: give it back.
      if (isHeld(aside)) fs.linkSync(aside, lockFile);
    }
    fs.writeFileSync(lockFile, own, { flag: "wx" });
    return true;
  } catch ({ code }) {
    if (code === "EEXIST" || code === "ENOENT") return false;
    if (code === "ENOSPC") throw new SetupError(diskFull.ENOSPC);
    throw new SetupError(
      `${process.cwd()} cannot be written to (${code}); make the checkout belong to you ${again}`,
    );
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

/** Ends the running step before the lock is given up: two installs would damage each other. A shell may lose a signal while it starts a program. */
function interrupt(signal) {
  if (child?.pid === undefined) process.exit(130);
  const { pid } = child;
  child.once("close", () => process.exit(130));
  process.kill(-pid, signal);
  setTimeout(() => process.kill(-pid, "SIGKILL"), 2_000);
}
