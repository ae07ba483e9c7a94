-- Saves a snapshot unless it is of an old version or a limit is reached. KEYS: the run, and the usage of its project if it has one.
-- ARGV: version, data, milliseconds until the run expires, calls, tokens, cost, then the limits of these three, 0 for none.
-- Returns the status, the stored version, its data if it was not saved, and the usage.
local function number(n) return string.format('%.0f', n) end
local stored = redis.call('HMGET', KEYS[1], 'version', 'data')
local version, data = stored[1] or '0', stored[2] or ''
if stored[1] and version ~= ARGV[1] then
	return {'1', version, data, '0', '0', '0'}
end
local now = redis.call('TIME')
local used = {0, 0, 0}
if KEYS[2] then
	local hour = number(math.floor(tonumber(now[1]) / 3600))
	local before = redis.call('HMGET', KEYS[2], 'hour', 'calls', 'tokens', 'cost')
	if before[1] == hour then
		used = {tonumber(before[2]), tonumber(before[3]), tonumber(before[4])}
	end
	local calls, tokens, cost = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
	if (calls > 0 and used[1] + tonumber(ARGV[4]) > calls) or (tokens > 0 and used[2] >= tokens) or (cost > 0 and used[3] >= cost) then
		return {'2', version, data, number(used[1]), number(used[2]), number(used[3])}
	end
	for k = 1, 3 do used[k] = used[k] + tonumber(ARGV[3 + k]) end
	redis.call('HSET', KEYS[2], 'hour', hour, 'calls', number(used[1]), 'tokens', number(used[2]), 'cost', number(used[3]))
	redis.call('PEXPIRE', KEYS[2], 3600000)
end
-- A clock in the version keeps versions from coming again after a run has expired or a failover has lost its last saves.
version = number(math.max(tonumber(version) + 1, tonumber(now[1]) * 1000000 + tonumber(now[2])))
if version == ARGV[1] then version = number(tonumber(version) + 1) end
redis.call('HSET', KEYS[1], 'version', version, 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'0', version, '', number(used[1]), number(used[2]), number(used[3])}
