/** Loaded before opsctl: a SIGHUP comes while the command looks for its settings file, and not by chance. */
import process from "node:process";

process.env = new Proxy(process.env, {
  get(env, name) {
    if (name === "OPSCTL_ENV_DIR") process.kill(process.pid, "SIGHUP");
    return Reflect.get(env, name);
  },
});
