import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { loadYaml } from '../config/load-from.ts';

// docs/envoy.md has two files, which must name the same secret. Envoy does not run here.

t.test("the page's file for Envoy reads the secret that the page's file for bearerd writes", async (t) => {
  const page = readFileSync('docs/envoy.md', 'utf8');
  const [ours = '', theirs = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml!);
  const config = await loadYaml(ours, {}, { '/run/secrets/client_secret': 's' });
  const [listener] = parse(theirs).static_resources.listeners;
  const manager = listener.filter_chains[0].filters[0].typed_config;
  const injector = manager.http_filters[0].typed_config;
  const { name, sds_config } = injector.credential.typed_config.credential;
  const { path, watched_directory } = sds_config.path_config_source;
  t.same(config.sinks, [{ kind: 'envoySds', path, name, credential: 'token' }]);
  t.equal(watched_directory.path, dirname(path), 'Envoy watches the folder, in which the file is renamed');
  t.match(injector, { overwrite: true, allow_request_without_credential: false });
  const [cluster] = parse(theirs).static_resources.clusters;
  const { sni, common_tls_context } = cluster.transport_socket.typed_config;
  const [{ matcher }] = common_tls_context.validation_context.match_typed_subject_alt_names;
  t.same([`https://${sni}`, `https://${matcher.exact}`], [config.upstream.origin, config.upstream.origin]);
  const [host] = manager.route_config.virtual_hosts;
  for (const { match } of host.routes) {
    t.notOk(
      `${config.sessionPath}/`.startsWith(`${match.path_separated_prefix}/`),
      'the session path is closed',
    );
  }
});

t.test("the page on gRPC keeps that file's cluster, host and guards", async (t) => {
  const blocksOf = (path: string) =>
    [...readFileSync(path, 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => parse(yaml!));
  const [, envoy] = blocksOf('docs/envoy.md');
  const [[route], cluster, tls] = blocksOf('docs/recipes/grpc.md');
  const manager = envoy.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const [before] = manager.route_config.virtual_hosts[0].routes;
  t.same(route.match.headers, before.match.headers, 'no web page');
  const { cluster: name, host_rewrite_literal: host } = route.route;
  t.same({ cluster: name, host_rewrite_literal: host }, before.route);
  const [{ name: known, ...others }] = envoy.static_resources.clusters;
  t.equal(name, known);
  for (const added of [cluster, tls])
    for (const key of Object.keys(added)) t.notOk(key in others, `${key} takes the place of nothing`);
});
