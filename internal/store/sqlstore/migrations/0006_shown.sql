ALTER TABLE runs ADD COLUMN shown TEXT NOT NULL DEFAULT '';
UPDATE runs SET shown = '{"metrics":' || CAST(json_object('total_events', events, 'total_duration_sec', duration, 'total_llm_calls', llm_calls,
    'total_retries', retries, 'total_handoffs', handoffs, 'total_errors', errors, 'average_latency_ms', mean_latency,
    'most_used_tool', busiest_tool, 'most_active_agent', busiest_agent) AS VARCHAR)
    || ',"preview":' || replace(CASE glance WHEN '' THEN '{}' ELSE glance END, '"news":', '"novelty":') || '}';
ALTER TABLE runs DROP COLUMN events;
ALTER TABLE runs DROP COLUMN duration;
ALTER TABLE runs DROP COLUMN llm_calls;
ALTER TABLE runs DROP COLUMN retries;
ALTER TABLE runs DROP COLUMN handoffs;
ALTER TABLE runs DROP COLUMN errors;
ALTER TABLE runs DROP COLUMN mean_latency;
ALTER TABLE runs DROP COLUMN busiest_tool;
ALTER TABLE runs DROP COLUMN busiest_agent;
ALTER TABLE runs DROP COLUMN glance;
