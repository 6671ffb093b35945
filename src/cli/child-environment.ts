/** What a command of `exec` gets: ours without the secrets, and where its proxy is. */
export function childEnvironment(
  ours: NodeJS.ProcessEnv,
  secrets: readonly string[],
  name: string,
  url: string,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...ours };
  for (const secret of secrets) delete env[secret];
  env[name] = url;
  return { ...env, ...withoutProxy(env) };
}

/** The command's calls to us go past the proxy of its environment. Each spelling has those who read it alone. */
function withoutProxy(env: NodeJS.ProcessEnv): { NO_PROXY: string; no_proxy: string } {
  const added = (list: string) => {
    const entries = list.split(/[,\s]+/).filter((entry) => entry !== '');
    // Beside others `*` is no wildcard to curl.
    if (entries.includes('*')) return list;
    return [...new Set([...entries, 'localhost', '127.0.0.1', '::1'])].join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: added(upper ?? lower ?? ''), no_proxy: added(lower ?? upper ?? '') };
}
