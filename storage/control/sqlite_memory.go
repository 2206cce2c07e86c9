package control

import (
	"fmt"
	"math/bits"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite takes blocks of tens of KB for as long as it works on one page of a table, and the allocator that it was
// translated with asks the kernel for each of more than 16 KB, and gives it back. Blocks that were freed are kept here
// instead, for the next that wants one as large: filing annotations took 15 % less time.
const (
	leastKept = 1 << 14 // bytes
	mostKept  = 1 << 18
	keptEach  = 8 // of each size at most
)

// kept are blocks that are free, by the binary logarithm of their size.
var kept [19]chan uintptr

// Those of SQLite, as it had them.
var (
	methods  sqlite3.Tsqlite3_mem_methods
	allocate func(*libc.TLS, int32) uintptr
	free     func(*libc.TLS, uintptr)
	sizeOf   func(*libc.TLS, uintptr) int32
)

func init() {
	for size := bits.Len(leastKept); size < len(kept); size++ {
		kept[size] = make(chan uintptr, keptEach)
	}
	tls := libc.NewTLS()
	defer tls.Close()
	configure := func(what int32) {
		args := libc.NewVaList(uintptr(unsafe.Pointer(&methods)))
		defer libc.Xfree(tls, args)
		if status := sqlite3.Xsqlite3_config(tls, what, args); status != sqlite3.SQLITE_OK {
			panic(fmt.Sprint("configure SQLite's memory: ", status))
		}
	}
	configure(sqlite3.SQLITE_CONFIG_GETMALLOC)
	allocate = *(*func(*libc.TLS, int32) uintptr)(unsafe.Pointer(&methods.FxMalloc))
	free = *(*func(*libc.TLS, uintptr))(unsafe.Pointer(&methods.FxFree))
	sizeOf = *(*func(*libc.TLS, uintptr) int32)(unsafe.Pointer(&methods.FxSize))
	methods.FxMalloc = asInC(allocateOrReuse)
	methods.FxFree = asInC(freeOrKeep)
	configure(sqlite3.SQLITE_CONFIG_MALLOC)
}

// asInC returns a function as the translation of C has it.
func asInC(function any) uintptr {
	return (*[2]uintptr)(unsafe.Pointer(&function))[1]
}

func allocateOrReuse(tls *libc.TLS, n int32) uintptr {
	if n <= leastKept || n > mostKept {
		return allocate(tls, n)
	}
	size := bits.Len32(uint32(n - 1))
	select {
	case block := <-kept[size]:
		return block
	default:
		return allocate(tls, 1<<size)
	}
}

func freeOrKeep(tls *libc.TLS, block uintptr) {
	n := sizeOf(tls, block)
	if n > leastKept && n <= mostKept && n&(n-1) == 0 {
		select {
		case kept[bits.Len32(uint32(n-1))] <- block:
			return
		default:
		}
	}
	free(tls, block)
}
