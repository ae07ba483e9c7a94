-- Returns fingerprint, calls, tool and workers of each tally: a list of the young ones and a list of the old ones.
local reply = {}
for k, key in ipairs(KEYS) do
	local all, list = redis.call('HGETALL', key), {}
	for i = 1, #all, 2 do
		local tally = cmsgpack.unpack(all[i + 1])
		tally[1] = string.format('%.0f', tally[1])
		table.insert(tally, 1, all[i])
		list[#list + 1] = tally
	end
	reply[k] = list
end
return reply
