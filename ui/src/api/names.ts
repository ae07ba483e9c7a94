// The names of the wire, as the server's description has them, with what the description leaves open.
import type { Comparison, Decision, Event, Fleet, FleetUpdate, Metrics, Profile, Replay, Rule, RunDetails, RunSummary, RunUpdate, Warning } from "./schema";

export type { Comparison, Decision, Event, Fleet, FleetUpdate, Metrics, Profile, Replay, Rule, RunDetails, RunSummary, RunUpdate, Warning };

/** Any JSON value. What agents and tools say is of this kind, and is shown as text only. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The object in a warning's details. Everything in it may be missing. */
export interface Details {
  why?: string;
  try?: string;
  first_event_id?: string;
  first_error?: string;
  repeated?: string[];
  period?: number;
  evidence?: { event_id: string; number: number }[];
}

export function detailsOf(w: Warning): Details {
  const d: unknown = w.details;
  return typeof d === "object" && d !== null ? (d as Details) : {};
}
