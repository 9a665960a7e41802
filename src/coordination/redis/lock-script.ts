/** How long Redis keeps a lock for a waiter that was notified and has not confirmed. */
const confirmMs = 2_000;

/**
 * All lock operations of one event-loop turn travel in one call of this script; Redis runs it alone, so each operation
 * is atomic and they happen in the order they were issued.
 *
 * A lock is three things under one hash tag:
 *   L  string  holder|fence|key|who|purpose, expires with the lease
 *   Q  list    waiting bids in arrival order: holder|ttl|cohort|key|who|purpose
 *   F  counter of fences, one for the database. While it is not a number (`quarantine`), nothing is granted.
 *
 * KEYS  F, then L of each operation (Q is L followed by `:q`). F is a prefix followed by `fence`; pushes go to that
 *       prefix, `w:` and the client part of the holder.
 * ARGV  fences that `a` and `t` below need together, then for each operation:
 *         "a" holder ttl cohort key|who|purpose   acquire, or wait in Q
 *         "s" …                                   the same again without a response, or to read the state of the bid
 *         "t" …                                   acquire, but do not wait
 *         "n" holder ttl fence  key|who|purpose   renew
 *         "r" holder                              release, and hand over to the first in Q that is still there
 *         "c" holder ttl cohort key|who|purpose   withdraw, and release if it was granted meanwhile
 *
 * Reply: server time in ms, then for each operation
 *   a s t  the fence if granted just now; {fence, ms left} if it was ours already;
 *          {0, ms left, value of L, place in Q}; {-1, ms} in quarantine; {-2, value of L} if that is another key's lock
 *   n r    1, or the value of L (or "") if it is not ours
 *   c      1
 * The number alone if there is one operation and its reply is a number: that is what most callers wait for, and each
 * command saved shows in how long they do.
 */
export const lockScript = `
local F = KEYS[1]

-- The server's clock, in microseconds. Read when first needed, and most releases do not.
local micros
local function clock()
  if not micros then
    local time = redis.call('TIME')
    micros = time[1] * 1e6 + time[2]
  end
  return micros
end

-- The last of n new fences, or nil in quarantine. Never below the time in microseconds, and so above every fence that
-- was given out before the counter was lost, or before an old snapshot of it was restored.
local function fences(n)
  local last = clock() + n
  local before = redis.call('SET', F, string.format('%.0f', last), 'KEEPTTL', 'GET')
  if before == 'quarantine' then
    redis.call('SET', F, before, 'KEEPTTL')
    return nil
  end
  if before and tonumber(before) > micros then
    last = before + n
    redis.call('SET', F, string.format('%.0f', last))
  end
  return last
end

local function ours(value, holder)
  return value and string.sub(value, 1, #holder + 1) == holder .. '|'
end

local function record(holder, fence, tail)
  return holder .. '|' .. string.format('%.0f', fence) .. '|' .. tail
end

-- Hands the lock to the first bid whose client still listens. The push informs it; without a listener it is gone.
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
    local hold = math.min(tonumber(ttl), ${confirmMs})
    local channel = string.sub(F, 1, -6) .. 'w:' .. string.match(holder, '^[^.]*')
    local message = string.format('%s|%.0f|%.0f|%d', holder, fence, math.floor(clock() / 1000), hold)
    local receivers = redis.call('PUBLISH', channel, message)
    if receivers > 0 then
      redis.call('SET', L, record(holder, fence, tail), 'PX', hold)
      return
    end
  end
  redis.call('DEL', L)
end

-- How a bid stands that could not simply take the lock, where L has this value and Q this length.
local function standing(L, value, ahead, mode, holder, ttl, cohort, tail)
  local Q = L .. ':q'
  local bid = holder .. '|' .. ttl .. '|' .. cohort .. '|' .. tail
  local place
  if mode ~= 't' and not ours(value, holder) then
    -- A request of a connection that broke may be read after one of the next: no bid must stand in line twice.
    place = ahead > 0 and redis.call('LPOS', Q, bid)
    if not place then
      place = redis.call('RPUSH', Q, bid) - 1
      redis.call('PEXPIRE', Q, 3600000)
      if not value then
        handOver(L)
        value = redis.call('GET', L)
      end
    end
  end

  if ours(value, holder) then
    return { tonumber(string.match(value, '^[^|]*|(%d+)')), redis.call('PTTL', L) }
  end
  if value and string.match(value, '^[^|]*|[^|]*|([^|]*)') ~= string.match(tail, '^[^|]*') then
    redis.call('LREM', Q, 1, bid)
    return { -2, value }
  end
  if not value and redis.call('GET', F) == 'quarantine' then return { -1, redis.call('PTTL', F) } end
  return { 0, redis.call('PTTL', L), value or '', place or 0 }
end

-- The fences of the operations still to come are reserved all at once, when the first of them finds its lock free.
local reserved, next = ARGV[1], nil

local replies, at = {}, 2
for i = 2, #KEYS do
  local L, mode, holder = KEYS[i], ARGV[at], ARGV[at + 1]
  local reply

  if mode == 'r' then
    at = at + 2
    local value = redis.call('GET', L)
    if ours(value, holder) then
      handOver(L)
      reply = 1
    else
      reply = value or ''
    end

  else
    local ttl, number, tail = ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
    at = at + 5

    if mode == 'n' then
      local value = redis.call('GET', L)
      if ours(value, holder) then
        redis.call('PEXPIRE', L, ttl)
        reply = 1
      elseif not value and redis.call('GET', F) == 'quarantine' then
        -- The server lost its data and has granted nothing since, so a holder may restore its lock.
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
      local ahead, value = redis.call('LLEN', L .. ':q'), nil
      -- It has waiters and no holder: the holder died. The first waiter gets it, whichever client asked.
      if ahead > 0 and redis.call('EXISTS', L) == 0 then
        handOver(L)
        ahead = redis.call('LLEN', L .. ':q')
      end
      if ahead == 0 and mode ~= 's' then
        if not next then
          local last = fences(reserved)
          next = last and last - reserved + 1
        end
        if next then
          value = redis.call('SET', L, record(holder, next, tail), 'NX', 'GET', 'PX', ttl)
          if not value then reply = next end
          next = next + number
        end
      end
      reply = reply or standing(L, value or redis.call('GET', L), ahead, mode, holder, ttl, number, tail)
    end
  end
  replies[i] = reply
end

if #KEYS == 2 and type(replies[2]) == 'number' then return replies[2] end
replies[1] = math.floor(clock() / 1000)
return replies
`;

/**
 * Runs once on each new connection. A server that is not the previous one, and has not been up for as long as a lease
 * may last, may have forgotten leases that are still held: nothing is granted until they have run out.
 *
 * KEYS  F, the previous run id
 * ARGV  the server's run id, ms that a lease may last, ms the server has been up, or -1 if another one granted locks before it
 * Reply: ms until locks are granted again, 0 if they are
 */
export const enterScript = `
local left = ARGV[2] - math.max(0, ARGV[3])
local isKnown = redis.call('GET', KEYS[2]) == ARGV[1]
-- A client with shorter leases may have been first. Not after a failover: each new connection would begin the wait again.
local isExtended = ARGV[3] ~= '-1' and redis.call('GET', KEYS[1]) == 'quarantine' and redis.call('PTTL', KEYS[1]) < left
if not isKnown then redis.call('SET', KEYS[2], ARGV[1]) end
if left > 0 and (not isKnown or isExtended) then redis.call('SET', KEYS[1], 'quarantine', 'PX', left) end
if redis.call('GET', KEYS[1]) == 'quarantine' then return redis.call('PTTL', KEYS[1]) end
return 0
`;
