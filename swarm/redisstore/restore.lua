-- Replaces a swarm. KEYS: its young and its old fingerprints. ARGV: milliseconds until both expire, then for each tally the number of
-- its key, fingerprint, calls, tool, the number of workers, and the workers.
redis.call('UNLINK', KEYS[1], KEYS[2])
local i = 2
while i <= #ARGV do
	local tally, workers = {tonumber(ARGV[i + 2]), ARGV[i + 3]}, tonumber(ARGV[i + 4])
	for k = 1, workers do
		tally[2 + k] = ARGV[i + 4 + k]
	end
	redis.call('HSET', KEYS[tonumber(ARGV[i])], ARGV[i + 1], cmsgpack.pack(tally))
	i = i + 5 + workers
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
