package match

import "github.com/webrace/webrace"

// levels is a set of how far profiles look from the start of their crawls: a bit for each number of levels, the last
// one for all from there on; the first one, 0, has no limit.
type levels uint64

const mostLevels = 63

func levelsOf(n int32) levels { return 1 << min(n, mostLevels) }

// reaching returns the levels of which some reach a page at the distance, and those of which all do.
func reaching(distance int) (some, all levels) {
	if distance >= mostLevels {
		return 1<<mostLevels | 1, 1
	}
	all = ^levels(0)<<(max(distance, 0)+1) | 1
	return all, all
}

// among returns the levels of which some reach the page that is matched, and do not reach beyond.
func among(o *Options) levels {
	some, _ := reaching(o.Distance)
	if o.Beyond > 0 {
		_, beyond := reaching(o.Beyond)
		some &^= beyond
	}
	return some
}

// reaches reports whether there may be levels that reach the page that is matched.
func (l levels) reaches(o *Options) bool { return l&among(o) != 0 }

// anew reports whether there may be levels that reach the page, and did not when it was seen.
func (l levels) anew(o *Options) bool {
	_, all := reaching(o.SeenDistance)
	return l&among(o)&^all != 0
}

// within reports whether a page at the distance lies within the levels of a profile.
func (c *Compiled) within(distance int) bool {
	return webrace.Reach{Distance: distance}.Within(int(c.levels))
}
