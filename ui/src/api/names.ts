// The types of the API, from the server's OpenAPI description, and types for what the description leaves open.
import type { Act, Alert, AlertTest, Analysis, Applied, Comparison, ControlState, Decision, Event, EventAnalysis, Metrics, NewAct, NewAlert, NewOrder, Order, Overview, OverviewTotals, OverviewUpdate, Profile, Replay, Review, Rule, RunDetails, RunSummary, RunUpdate, Shadow, ShadowRuns, Suggestion, Suggestions, Warning } from "./schema";

export type { Act, Alert, AlertTest, Analysis, Applied, Comparison, ControlState, Decision, Event, EventAnalysis, Metrics, NewAct, NewAlert, NewOrder, Order, Overview, OverviewTotals, OverviewUpdate, Profile, Replay, Review, Rule, RunDetails, RunSummary, RunUpdate, Shadow, ShadowRuns, Suggestion, Suggestions, Warning };

/** Any JSON value. Agents and tools send such values; the page shows them as text only. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The object in a warning's details. Every member is optional. */
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
