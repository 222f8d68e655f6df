import type { RequestHandler } from "express";
import type { Admission } from "../http/admission.ts";

/** Lets requests that change something wait while a snapshot is taken or restored; none of them then comes half before it. */
export function holdBack(admission: Admission): RequestHandler {
  return (request, response, next) => {
    if (request.method === "GET" || request.method === "HEAD") next();
    else
      admission.guard(
        () => next(),
        () => false,
      )(request, response);
  };
}
