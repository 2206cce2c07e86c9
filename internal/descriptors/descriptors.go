// Package descriptors knows how many files and connections the system lets this process have open.
package descriptors

import "errors"

// Unlimited is the limit of a system that sets none.
const Unlimited = 1 << 20

// Enough is the limit below which `check` warns: a third of it is for clients, a sixth for hosts that are crawled, and
// the rest for the files of the stores.
const Enough = 1024

// Exhausted reports whether an error means that this process, or the system, has no descriptor left.
func Exhausted(err error) bool {
	for _, e := range exhausted {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
