// Asking the API. An error carries what the server said about it.
import { parseJson } from "./json.js";

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? problem?.title ?? `The server answered ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

export async function fetchJson(path, signal) {
  let response;
  try {
    response = await fetch(path, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { detail: "The server can't be reached. Look at the connection and try again." });
  }
  const text = await response.text();
  let body = null;
  try {
    body = parseJson(text);
  } catch {
    throw new ApiError(response.status, { detail: `The server's answer can't be read (status ${response.status}).` });
  }
  if (!response.ok) throw new ApiError(response.status, body);
  return body;
}

// All rows of a list that takes several pages (GPUs, regions, providers).
export async function fetchAll(path, signal) {
  const rows = [];
  let cursor = null;
  do {
    const page = await fetchJson(`${path}?limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, signal);
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor);
  return rows;
}
