import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** Where a program runs. */
interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Runs a program to its end and answers what it printed.
 *
 * @throws Error with all that it printed, when it fails.
 */
export function run(program: string, args: readonly string[], { cwd, env }: Place): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, env, maxBuffer: 32 * 1024 ** 2 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${args.join(" ")} failed (${error.code}):\n${stdout}\n${stderr}`));
    });
  });
}

/** Npm finds its global settings (a mirror, its certificate) next to the Node that runs it: another Node needs their path. */
const settings = ["npm_config_globalconfig", "npm_config_registry", "npm_config_cafile"];

/**
 * The environment of a user who has nothing of this checkout: another Node, another home. Of npm's settings only those stay that say
 * where packages come from.
 *
 * @param node - the folder of the Node to use.
 */
export function installer(node: string, home = homedir()): NodeJS.ProcessEnv {
  const { env } = process;
  const kept = Object.entries(env).filter(
    ([name]) => !/^(?:npm_|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$|VITEST|TEST$)/i.test(name),
  );
  const path = (env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    PATH: [node, ...path].join(delimiter),
    npm_config_cache: env["npm_config_cache"] ?? join(homedir(), ".npm"),
    npm_config_userconfig: env["npm_config_userconfig"] ?? join(homedir(), ".npmrc"),
    ...Object.fromEntries(settings.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_prefer_offline: "true",
    npm_config_update_notifier: "false",
  };
}
