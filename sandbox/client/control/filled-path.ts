import type { Middleware } from "openapi-fetch";

/** Refuses a request whose path still has a parameter, such as `{id}`, before it is sent. @throws TypeError */
export const requireFilledPath: NonNullable<Middleware["onRequest"]> = ({ schemaPath, params }) => {
  const unfilled = schemaPath.match(/\{[^{}]+\}/g)?.find((name) => params.path?.[name.slice(1, -1)] == null);
  if (unfilled !== undefined)
    throw new TypeError(
      `The path has an unfilled ${unfilled}. Pass ${unfilled.slice(1, -1)} in params.path.`,
    );
};
