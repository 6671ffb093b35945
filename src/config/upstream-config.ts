/** A base URL, taken apart once. `basePath` is empty or begins with `/` and does not end with one. */
export interface Upstream {
  /** `scheme://host[:port]`, as `new URL().origin` writes it. */
  readonly origin: string;
  readonly basePath: string;
}

/** Where connections go in place of a URL's own host, and port where it is given. */
export interface UpstreamAddress {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port?: number;
}
