CREATE INDEX runs_idle ON runs (updated) WHERE status = 'running';
