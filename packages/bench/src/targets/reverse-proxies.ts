// nginx and HAProxy as blind reverse proxies: what forwarding costs in C, without any of a gateway's work. One worker or thread per core.
import type { LocateContext, Located, PlanContext, Target } from "../contract/target.ts";
import { directTraffic } from "../matrix/direct-traffic.ts";
import { locateExecutable, readVersion } from "./locate-executable.ts";

type Addresses = Pick<PlanContext, "listenHost" | "listenPort" | "mockHost" | "mockPort" | "cores">;

/** Configuration of nginx. Bodies stay in memory: a temporary file would measure the disk. */
function renderNginxConfig({ listenHost, listenPort, mockHost, mockPort, cores }: Addresses): string {
  return `worker_processes ${cores};
daemon off;
pid nginx.pid;
error_log stderr error;
events {
  worker_connections 16384;
}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_max_body_size 16m;
  client_body_buffer_size 1m;
  keepalive_requests 100000000;
  upstream mock {
    server ${mockHost}:${mockPort};
    keepalive 256;
    keepalive_requests 100000000;
  }
  server {
    listen ${listenHost}:${listenPort} backlog=8192;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 60s;
    }
  }
}
`;
}

/** Configuration of HAProxy. */
function renderHaproxyConfig({ listenHost, listenPort, mockHost, mockPort, cores }: Addresses): string {
  return `global
  nbthread ${cores}
defaults
  mode http
  http-reuse always
  timeout connect 60s
  timeout client 60s
  timeout server 60s
frontend bench
  bind ${listenHost}:${listenPort} backlog 8192
  default_backend mock
backend mock
  server mock ${mockHost}:${mockPort}
`;
}

const BLIND = {
  profile: "blind",
  kind: "proxy",
  checksKey: false,
  warmUpRequests: 2000,
  unsupported: {
    S8: "a blind proxy checks no key",
    "S8-404": "a blind proxy knows no models",
    X1: "a blind proxy translates nothing",
  },
  traffic: directTraffic,
} as const;
const READY = { path: "/v1/models", timeoutMs: 10_000 } as const;

function locateWith(
  name: "nginx" | "haproxy",
  versionFlag: string,
  pattern: RegExp,
): (context: LocateContext) => Promise<Located> {
  return (context) =>
    locateExecutable(
      {
        option: `${name}.bin`,
        variable: `${name.toUpperCase()}_BIN`,
        names: [name],
        installCommand: `apt-get install ${name}`,
        pinnedVersion: undefined,
        askVersion: (executable) => readVersion(executable, [versionFlag], pattern),
      },
      context,
    );
}

/** nginx, a worker process per core. */
export const NGINX: Target = {
  ...BLIND,
  id: "nginx",
  label: "nginx",
  notes: ["A blind reverse proxy: it looks into no body and checks no key."],
  locate: locateWith("nginx", "-v", /nginx\/(\S+)/),
  plan: (context) => ({
    kind: "process",
    command: context.executable,
    args: ["-p", context.workDirectory, "-e", "stderr", "-c", `${context.workDirectory}/nginx.conf`],
    environment: {},
    files: [{ name: "nginx.conf", content: renderNginxConfig(context) }],
    ready: READY,
    settleMs: 200,
    workers: context.cores,
  }),
};

/** HAProxy, a thread per core. */
export const HAPROXY: Target = {
  ...BLIND,
  id: "haproxy",
  label: "HAProxy",
  notes: ["A blind reverse proxy: it looks into no body and checks no key."],
  locate: locateWith("haproxy", "-v", /version (\S+)/),
  plan: (context) => ({
    kind: "process",
    command: context.executable,
    args: ["-db", "-f", `${context.workDirectory}/haproxy.cfg`],
    environment: {},
    files: [{ name: "haproxy.cfg", content: renderHaproxyConfig(context) }],
    ready: READY,
    settleMs: 200,
    workers: context.cores,
  }),
};
