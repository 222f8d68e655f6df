import { Agent, type ClientRequestArgs, request } from "node:http";
import { Socket } from "node:net";

// As it was when the package was loaded: libraries that mock HTTP (nock, msw) replace it.
const { connect } = Socket.prototype;

/** Where such a library that was loaded before the package lets connections of its own pass. */
const passage = "__MSW_INTERNAL_CONNECTION_CONTEXT";

/** Node's own function, past a replacement of the one in its module. */
export const requestDirect: typeof request = request;

/** Connects to a part of the sandbox itself, past what mocks connections in the process of the tests. */
export function connectDirect(options: Pick<ClientRequestArgs, "host" | "port" | "path">): Socket {
  const socket = new Socket();
  socket.setNoDelay();
  const dial = () => void Reflect.apply(connect, socket, [options]);
  const mock: { run?: (dial: () => void) => void } | undefined = Reflect.get(globalThis, passage);
  if (mock?.run === undefined) dial();
  else mock.run(dial);
  return socket;
}

/** Connects to parts of the sandbox itself: neither a proxy of the environment nor a mock of the tests takes the connections elsewhere. */
export class DirectAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    // The path is that of the request, and not of a socket in the file system.
    return connectDirect({ ...options, path: null });
  }
}
