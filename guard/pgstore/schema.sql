CREATE TABLE IF NOT EXISTS unloop_guard_runs (
	project bytea NOT NULL,
	run bytea NOT NULL,
	version bigint NOT NULL,
	data bytea NOT NULL,
	saved_at timestamptz NOT NULL,
	PRIMARY KEY (project, run)
);
CREATE INDEX IF NOT EXISTS unloop_guard_runs_saved_at ON unloop_guard_runs (saved_at);
CREATE TABLE IF NOT EXISTS unloop_guard_usage (
	project bytea PRIMARY KEY,
	hour bigint NOT NULL,
	calls bigint NOT NULL,
	tokens bigint NOT NULL,
	cost bigint NOT NULL -- millionths of a US dollar
);

-- Saves a snapshot unless it is of an old version or a limit is reached. A limit of 0 is none. counts is false for a save without
-- usage, which does not wait for the row of the project.
CREATE OR REPLACE FUNCTION unloop_guard_save(
	p_project bytea, p_run bytea, p_version bigint, p_data bytea, counts boolean,
	use_calls bigint, use_tokens bigint, use_cost bigint, max_calls bigint, max_tokens bigint, max_cost bigint,
	OUT status int, OUT version bigint, OUT data bytea, OUT calls bigint, OUT tokens bigint, OUT cost bigint
) LANGUAGE plpgsql AS $$
DECLARE
	this_hour bigint := floor(extract(epoch FROM clock_timestamp()) / 3600);
	micros bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000);
	old unloop_guard_runs;
BEGIN
	status := 0; version := 0; calls := 0; tokens := 0; cost := 0;
	-- One lock for a run that does not exist yet, too. It ends with the transaction.
	PERFORM pg_advisory_xact_lock(hashtextextended(encode(p_project, 'hex') || ':' || encode(p_run, 'hex'), 7239));
	SELECT * INTO old FROM unloop_guard_runs r WHERE r.project = p_project AND r.run = p_run;
	IF FOUND THEN
		version := old.version;
		data := old.data;
		IF old.version <> p_version THEN
			status := 1;
			RETURN;
		END IF;
	END IF;
	IF counts THEN
		INSERT INTO unloop_guard_usage AS u VALUES (p_project, this_hour, 0, 0, 0)
			ON CONFLICT (project) DO UPDATE SET hour = excluded.hour,
				calls = CASE WHEN u.hour = excluded.hour THEN u.calls ELSE 0 END,
				tokens = CASE WHEN u.hour = excluded.hour THEN u.tokens ELSE 0 END,
				cost = CASE WHEN u.hour = excluded.hour THEN u.cost ELSE 0 END
			RETURNING u.calls, u.tokens, u.cost INTO calls, tokens, cost;
		IF (max_calls > 0 AND calls + use_calls > max_calls) OR (max_tokens > 0 AND tokens >= max_tokens) OR (max_cost > 0 AND cost >= max_cost) THEN
			status := 2;
			RETURN;
		END IF;
		calls := calls + use_calls;
		tokens := tokens + use_tokens;
		cost := cost + use_cost;
		UPDATE unloop_guard_usage u SET calls = unloop_guard_save.calls, tokens = unloop_guard_save.tokens, cost = unloop_guard_save.cost
			WHERE u.project = p_project;
	END IF;
	-- A clock in the version keeps versions from coming again after a run was removed or a failover has lost its last saves.
	version := greatest(version + 1, micros);
	IF version = p_version THEN
		version := version + 1;
	END IF;
	data := NULL;
	INSERT INTO unloop_guard_runs AS r VALUES (p_project, p_run, unloop_guard_save.version, p_data, now())
		ON CONFLICT (project, run) DO UPDATE SET version = excluded.version, data = excluded.data, saved_at = excluded.saved_at;
END $$;
