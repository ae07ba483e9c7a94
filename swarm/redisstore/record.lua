-- Counts calls. KEYS: the young and the old fingerprints of a swarm. ARGV: the bound of each, milliseconds until both expire, the
-- bound of workers, then fingerprint, tool and worker of each call. Returns calls and workers after each call.
local young, old, most, bound = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[3])
local reply = {}
for i = 4, #ARGV, 3 do
	local fingerprint, worker = ARGV[i], ARGV[i + 2]
	local packed = redis.call('HGET', young, fingerprint)
	if not packed then
		packed = redis.call('HGET', old, fingerprint)
		if packed then redis.call('HDEL', old, fingerprint) end
		if redis.call('HLEN', young) >= most then
			redis.call('UNLINK', old)
			redis.call('RENAME', young, old)
		end
	end
	local tally = packed and cmsgpack.unpack(packed) or {0, ''}
	tally[1], tally[2] = tally[1] + 1, ARGV[i + 1]
	local size = #tally
	if size < bound + 2 then
		local known = false
		for k = 3, size do
			if tally[k] == worker then known = true break end
		end
		if not known then
			size = size + 1
			tally[size] = worker
		end
	end
	redis.call('HSET', young, fingerprint, cmsgpack.pack(tally))
	reply[#reply + 1] = tally[1]
	reply[#reply + 1] = size - 2
end
redis.call('PEXPIRE', young, ARGV[2]) -- RENAME keeps the expiry
return reply
