package match

import "testing"

// TestCrowdsAreJudgedByTheirLevelsAtAGlance compares what a set of levels tells with what each of them tells.
func TestCrowdsAreJudgedByTheirLevelsAtAGlance(t *testing.T) {
	t.Parallel()
	all := []int32{0, 1, 2, 5, 61, 62, 63, 64, 65, 1000, 1<<31 - 1}
	distances := []int{0, 1, 2, 4, 5, 60, 61, 62, 63, 64, 999, 1 << 30}
	for _, n := range all {
		c := &Compiled{levels: n}
		s := &segment{levels: levelsOf(n)}
		for _, now := range distances {
			if c.within(now) && !s.levels.reaches(&Options{Distance: now}) {
				t.Errorf("%d levels do not reach a distance of %d", n, now)
			}
			if s.reachedBy(now) && !c.within(now) {
				t.Errorf("%d levels are certain to reach a distance of %d", n, now)
			}
			if n < mostLevels && s.levels.reaches(&Options{Distance: now}) != c.within(now) {
				t.Errorf("%d levels and a distance of %d", n, now)
			}
			for _, beyond := range distances {
				o := &Options{Distance: now, Beyond: beyond}
				is := c.within(now) && (beyond == 0 || !c.within(beyond))
				if _, concerned := o.shows(c); concerned != is || is && !s.levels.reaches(o) || n < mostLevels && is != s.levels.reaches(o) {
					t.Errorf("%d levels, a distance of %d and not of %d: %v, %v", n, now, beyond, concerned, s.levels.reaches(o))
				}
			}
			for _, then := range distances {
				anew := s.levels.anew(&Options{Distance: now, SeenDistance: then})
				if is := c.within(now) && !c.within(then); is && !anew || n < mostLevels && is != anew {
					t.Errorf("%d levels, a distance of %d and then of %d: anew %v", n, then, now, anew)
				}
			}
		}
	}
}
