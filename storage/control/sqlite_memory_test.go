package control

import (
	"math/rand/v2"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// No block is anybody else's while it is in use, and each is as large as was asked for.
func TestBlocksAreUsedByOneAtATime(t *testing.T) {
	t.Parallel()
	const users, rounds = 4, 2000
	done := make(chan bool, users)
	for user := range users {
		go func() {
			done <- useBlocks(rand.New(rand.NewPCG(1, uint64(user))), int32(user+1), rounds)
		}()
	}
	for range users {
		if !<-done {
			t.Fatal("another wrote into a block, or it is smaller than what was asked for")
		}
	}
	for size, blocks := range kept {
		if len(blocks) > keptEach {
			t.Errorf("%d blocks of %d bytes are kept, which is more than %d", len(blocks), 1<<size, keptEach)
		}
	}
}

// useBlocks takes blocks, fills them, and reports whether they are as it left them when it gives them back.
func useBlocks(random *rand.Rand, user int32, rounds int) bool {
	tls := libc.NewTLS()
	defer tls.Close()
	type block struct {
		at   uintptr
		size int32
	}
	var used []block
	own := libc.Xmalloc(tls, 2*mostKept)
	defer libc.Xfree(tls, own)
	libc.Xmemset(tls, own, user, 2*mostKept)
	for range rounds {
		if len(used) < 12 && random.IntN(2) == 0 {
			b := block{size: 1 + random.Int32N(2*mostKept)}
			b.at = sqlite3.Xsqlite3_malloc(tls, b.size)
			if sqlite3.Xsqlite3_msize(tls, b.at) < uint64(b.size) {
				return false
			}
			libc.Xmemset(tls, b.at, user, uint64(b.size))
			used = append(used, b)
		} else if len(used) > 0 {
			i := random.IntN(len(used))
			b := used[i]
			if libc.Xmemcmp(tls, b.at, own, uint64(b.size)) != 0 {
				return false
			}
			sqlite3.Xsqlite3_free(tls, b.at)
			used[i] = used[len(used)-1]
			used = used[:len(used)-1]
		}
	}
	for _, b := range used {
		sqlite3.Xsqlite3_free(tls, b.at)
	}
	return true
}
