import { request } from "node:http";

/** The answer of an HTTP server. */
export interface RawAnswer {
  status: number;
  headers: { [name: string]: string | string[] | undefined };
  text: string;
}

/**
 * Sends a request with every header as it is given, Host and Origin included, which `fetch` does not let a test choose.
 *
 * @example await ask(urls.rpc, { headers: { Host: "evil.example" } })
 */
export function ask(
  url: string,
  options: { method?: string; headers?: { [name: string]: string }; body?: string } = {},
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const { method = "GET", headers = {}, body = "" } = options;
  const sending = request(url, { method, headers, agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.once("end", () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
    );
    response.once("error", reject);
  });
  // A server that refuses a body may close before all of it is sent; its answer counts.
  sending.once("error", reject).end(body);
  return promise;
}
