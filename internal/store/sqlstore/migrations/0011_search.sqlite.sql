UPDATE runs SET
    events = COALESCE(json_extract(shown, '$.metrics.total_events'), 0),
    duration = COALESCE(json_extract(shown, '$.metrics.total_duration_sec'), 0),
    mean_latency = COALESCE(json_extract(shown, '$.metrics.average_latency_ms'), 0)
    WHERE json_valid(shown);
CREATE INDEX runs_list ON runs (started, id, name, project, status, score, health, warnings, worst, tools, agents, models, guarded_by, events,
    duration, tokens, cost, updated);
CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
