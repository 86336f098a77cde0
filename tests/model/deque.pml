/* scheduler/deque.c: one owner, two thieves, a ring of two places that are used again. Every access to shared memory is a step of its own; the owner's
 * stores pass through a buffer, as on x86-64, that a sequentially consistent access empties first. Each item must come out exactly once.
 * Each BUG_… takes one precaution away, and must be found. */
#define ITEMS 4
#define PLACES 2
#define EMPTY 0

byte top, bottom;
byte place[PLACES];
byte out[ITEMS + 1]; /* how often */
bool over;
byte gone; /* processes that ended */
/* The owner's store to `bottom` that others do not see yet. */
bool buffered;
byte buffer;

#define FLUSH if :: buffered -> bottom = buffer; buffered = false :: else fi

inline note(x)
{
	atomic {
		out[x]++;
		assert(x != EMPTY && out[x] == 1)
	}
}

active proctype flusher()
{
	do
	:: atomic { buffered -> bottom = buffer; buffered = false }
	:: over && !buffered -> break
	od;
	gone++
}

active proctype owner()
{
	byte b, t, x, next = 1;

	do
	:: next <= ITEMS && b - top < PLACES -> /* push; a full ring would grow */
#ifdef BUG_PUBLISHED_FIRST
		atomic { FLUSH; bottom = b + 1 };
		place[b % PLACES] = next;
#else
		place[b % PLACES] = next;
		atomic { FLUSH; bottom = b + 1 };
#endif
		b++;
		next++
	:: top < b -> /* take */
		b--;
#ifdef BUG_STORE_STAYS_BUFFERED
		atomic { FLUSH; buffer = b; buffered = true };
#else
		atomic { FLUSH; bottom = b };
#endif
		t = top;
		x = EMPTY;
		if
		:: t <= b -> x = place[b % PLACES]
		:: else
		fi;
		if
		:: t < b -> note(x)
		:: else ->
			if
			:: t == b ->
#ifdef BUG_LAST_WITHOUT_EXCHANGE
				note(x)
#else
				atomic {
					FLUSH;
					if
					:: top == t -> top++
					:: else -> x = EMPTY
					fi
				};
				if
				:: x != EMPTY -> note(x)
				:: else
				fi
#endif
			:: else
			fi;
			b++;
			atomic { FLUSH; bottom = b }
		fi
	:: next > ITEMS && top >= b -> break
	od;
	over = true;
	gone++
}

active [2] proctype thief()
{
	byte b, t, x;

	do
	:: over -> break
	:: else ->
		t = top;
		b = bottom;
		if
		:: t < b ->
#ifdef BUG_READ_AFTER_EXCHANGE
			atomic {
				if
				:: top == t -> top++; x = 1
				:: else -> x = EMPTY
				fi
			};
			if
			:: x != EMPTY -> x = place[t % PLACES]; note(x)
			:: else
			fi
#else
			x = place[t % PLACES];
			atomic {
				if
				:: top == t -> top++
				:: else -> x = EMPTY
				fi
			};
			if
			:: x != EMPTY -> note(x)
			:: else
			fi
#endif
		:: else
		fi
	od;
	gone++
}

/* When nobody can go on: all came out. */
active proctype judge()
{
	byte i;

	gone == 4;
	for (i : 1 .. ITEMS) {
		assert(out[i] == 1)
	}
}
