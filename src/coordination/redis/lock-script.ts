/**
 * All lock operations of one event-loop turn travel in one call of this script; Redis runs it alone, so each operation
 * is atomic and they happen in the order they were issued.
 *
 * A lock is three things under one hash tag:
 *   L  string  holder|fence|since|key|who|purpose, expires with the lease
 *   Q  list    waiting bids in arrival order: holder|ttl|cohort|key|who|purpose
 *   F  counter of fences, one for the database. While it is not a number (`quarantine`), nothing is granted.
 *
 * KEYS  F, then L of each operation (Q is L followed by `:q`)
 * ARGV  channel prefix, confirm ms, fences to reserve up front, then 5 for each operation:
 *         "a" holder ttl cohort key|who|purpose   acquire, or wait in Q
 *         "s" …                                   the same again after an unclear answer, or to look how it stands
 *         "t" …                                   acquire, but do not wait
 *         "n" holder ttl fence  key|who|purpose   renew
 *         "r" holder 0   0      -                 release, and hand over to the first in Q that is still there
 *         "c" holder ttl cohort key|who|purpose   withdraw, and release if it was granted meanwhile
 *
 * Reply: server time in ms, then for each operation
 *   a s t  the fence if granted just now; {fence, ms left} if it was ours already;
 *          {0, ms left, value of L, place in Q}; {-1, ms} in quarantine; {-2, value of L} if that is another key's lock
 *   n r    1, or the value of L (or "") if it is not ours
 *   c      1
 */
export const lockScript = `
local F, channel, confirm = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The last of n new fences, or nil in quarantine. Never below the time in microseconds, and so above every fence that
-- was given out before the counter was lost, or before an old snapshot of it was restored.
local function fences(n)
  local counter = redis.call('GET', F)
  if counter == 'quarantine' then return nil end
  local last = math.max(tonumber(counter or 0), time[1] * 1e6 + time[2]) + n
  redis.call('SET', F, string.format('%.0f', last))
  return last
end

local function ours(value, holder)
  return value and string.sub(value, 1, #holder + 1) == holder .. '|'
end

local function record(holder, fence, tail)
  return holder .. '|' .. string.format('%.0f', fence) .. '|' .. string.format('%.0f', now) .. '|' .. tail
end

-- Hands the lock to the first bid whose client still listens. The push tells it; no listener means it is gone.
local function handOver(L)
  local Q = L .. ':q'
  for _ = 1, 64 do
    local bid = redis.call('LPOP', Q)
    if not bid then break end
    local holder, ttl, cohort, tail = string.match(bid, '^([^|]*)|(%d+)|(%d+)|(.*)$')
    local last = fences(tonumber(cohort))
    if not last then
      redis.call('LPUSH', Q, bid)
      break
    end
    local fence = last - cohort + 1
    local hold = math.min(tonumber(ttl), confirm)
    local heard = redis.call('PUBLISH', channel .. string.match(holder, '^[^.]*'),
      holder .. '|' .. string.format('%.0f', fence) .. '|' .. string.format('%.0f', now) .. '|' .. hold)
    if heard > 0 then
      redis.call('SET', L, record(holder, fence, tail), 'PX', hold)
      return
    end
  end
  redis.call('DEL', L)
end

-- How a bid stands that could not simply take the lock.
local function standing(L, holder, ttl, cohort, tail, mode)
  local Q = L .. ':q'
  local bid = holder .. '|' .. ttl .. '|' .. cohort .. '|' .. tail
  -- A request of a connection that broke may be read after one of the next: the same bid must not stand in line twice.
  local place = mode ~= 't' and redis.call('LPOS', Q, bid)
  if mode ~= 't' and not place and not ours(redis.call('GET', L), holder) then
    place = redis.call('RPUSH', Q, bid) - 1
    redis.call('PEXPIRE', Q, 3600000)
    if redis.call('EXISTS', L) == 0 then handOver(L) end
  end

  local value = redis.call('GET', L)
  if ours(value, holder) then
    return { tonumber(string.match(value, '^[^|]*|(%d+)')), redis.call('PTTL', L) }
  end
  if value and string.match(value, '^[^|]*|[^|]*|[^|]*|([^|]*)') ~= string.match(tail, '^[^|]*') then
    redis.call('LREM', Q, 1, bid)
    return { -2, value }
  end
  if redis.call('GET', F) == 'quarantine' then return { -1, redis.call('PTTL', F) } end
  return { 0, redis.call('PTTL', L), value or '', place or 0 }
end

local reserved = tonumber(ARGV[3])
local next = reserved > 0 and fences(reserved)
next = next and next - reserved + 1

local replies = { now }
for i = 2, #KEYS do
  local L, at = KEYS[i], 4 + (i - 2) * 5
  local mode, holder, ttl, number, tail = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local reply

  if mode == 'r' then
    local value = redis.call('GET', L)
    if ours(value, holder) then
      handOver(L)
      reply = 1
    else
      reply = value or ''
    end

  elseif mode == 'n' then
    local value = redis.call('GET', L)
    if ours(value, holder) then
      redis.call('PEXPIRE', L, ttl)
      reply = 1
    elseif not value and redis.call('GET', F) == 'quarantine' then
      -- The server forgot. Nobody was granted anything since, so whoever still holds may say so.
      redis.call('SET', L, record(holder, number, tail), 'PX', ttl)
      reply = 1
    else
      reply = value or ''
    end

  elseif mode == 'c' then
    redis.call('LREM', L .. ':q', 1, holder .. '|' .. ttl .. '|' .. number .. '|' .. tail)
    if ours(redis.call('GET', L), holder) then handOver(L) end
    reply = 1

  else
    local fence
    if mode ~= 's' and next then
      fence = next
      next = next + number
    end
    -- Nobody holds it although somebody waits: a holder died. The first in line gets it now, whoever asked.
    local queued = redis.call('EXISTS', L .. ':q') == 1
    if queued and redis.call('EXISTS', L) == 0 then
      handOver(L)
      queued = redis.call('EXISTS', L .. ':q') == 1
    end
    if fence and not queued and redis.call('SET', L, record(holder, fence, tail), 'NX', 'PX', ttl) then
      reply = fence
    else
      reply = standing(L, holder, ttl, number, tail, mode)
    end
  end
  replies[i] = reply
end
return replies
`;

/**
 * Run once on each new connection. A server that is not the one we knew, and has not been up for as long as a lease
 * may last, may have forgotten leases that are still held: nothing is granted until they have run out.
 *
 * KEYS  F, the run id we knew
 * ARGV  the server's run id, ms that a lease may last, ms the server has been up
 * Reply: ms until locks are granted again, 0 if they are
 */
export const enterScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  redis.call('SET', KEYS[2], ARGV[1])
  local left = ARGV[2] - ARGV[3]
  if left > 0 then redis.call('SET', KEYS[1], 'quarantine', 'PX', left) end
end
if redis.call('GET', KEYS[1]) == 'quarantine' then return redis.call('PTTL', KEYS[1]) end
return 0
`;
