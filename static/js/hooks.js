// State that comes from the server. A newer question drops the answer to an older one.
import { useEffect, useState } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { fetchAll, fetchJson } from "./api.js";

function useLoad(load, key) {
  const [state, setState] = useState({ loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (key === null) return undefined;
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true, error: null }));
    load(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ loading: false, data }),
      (error) => !abort.signal.aborted && setState({ loading: false, error }),
    );
    return () => abort.abort();
  }, [key, round]);
  return { ...state, retry: () => setRound((n) => n + 1) };
}

export const useJson = (path) => useLoad((signal) => fetchJson(path, signal), path);
export const useAll = (path) => useLoad((signal) => fetchAll(path, signal), path);
