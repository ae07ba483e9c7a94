/**
 * unloop for LangChain.js and LangGraph.js. UnloopCallbackHandler records graphs on a server. unloopMiddleware guards an agent's tool calls.
 * Each works without the other.
 *
 * @packageDocumentation
 */

export { UnloopCallbackHandler } from "./handler.js";
export { type MiddlewareOptions, unloopMiddleware } from "./middleware.js";
