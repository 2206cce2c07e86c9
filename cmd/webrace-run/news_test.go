package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	newsKill   = flag.Bool("kill", false, "let TestNews kill the process within each round, twice, as TestKilledNews does")
	newsSeed   = flag.Uint64("seed", 28, "where TestNews and TestKilledNews kill the process")
	newsCopies = flag.Int("copies", 1, "how often at once TestNews and TestKilledNews play each scenario, so that a kill finds it at as many places")
	newsTold   = flag.Bool("told", false, "let TestNews print what is told today, as sections of a scenario")
)

// TestNews plays the scenarios of testdata/news, whose README.md has their language: sites that change from round to
// round, and who is to be told of what.
//
// All that are chosen with -run, and have the same options, are watched by one process a round. So each subtest waits
// until all have said that they are chosen, and then for what came of them together.
func TestNews(t *testing.T) { testNews(t, *newsKill) }

// TestKilledNews plays the same, and kills the process twice within each round: the same is told.
func TestKilledNews(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of processes: not in short mode")
	}
	testNews(t, true)
}

func testNews(t *testing.T, kill bool) {
	all, err := readSituations("testdata/news")
	if err != nil {
		t.Fatal(err)
	}
	chosen := make(map[string]*newsroom) // by their options
	for _, s := range all {
		if kill && s.counts {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			options := strings.Join(s.set, " ")
			room := chosen[options]
			if room == nil {
				room = &newsroom{set: s.set}
				chosen[options] = room
			}
			copies := s.copies(*newsCopies)
			room.situations = append(room.situations, copies...)
			t.Parallel()
			room.play.Do(func() {
				if room.played, room.err = playNews(room.situations, room.set, kill, t.TempDir()); room.err != nil {
					t.Fatal(room.err)
				}
			})
			if room.err != nil {
				t.Fatal("not played to the end, as another scenario of this process says")
			}
			for _, c := range copies {
				c.judge(t, room.played[c.name], kill)
			}
		})
	}
}

// copies returns a scenario so many times, under names of their own.
func (s *situation) copies(n int) []*situation {
	all := []*situation{s}
	for i := 1; i < n; i++ {
		c := *s
		c.name = fmt.Sprintf("%s-copy-%d", s.name, i+1)
		all = append(all, &c)
	}
	return all
}

// newsroom is the scenarios that one process a round watches.
type newsroom struct {
	set        []string
	situations []*situation
	play       sync.Once
	played     map[string][]heard
	err        error
}

// judge compares what came of the rounds with what the scenario expects.
func (s *situation) judge(t *testing.T, rounds []heard, killed bool) {
	t.Helper()
	if *newsTold {
		t.Log(transcript(rounds[:len(s.rounds)]))
	}
	wrong := s.wrong(rounds, killed)
	switch {
	case wrong == "" && s.pending != "" && !killed: // which compares less
		t.Errorf("it is so now: remove \"pending: %s\"", s.pending)
	case wrong != "" && s.pending != "":
		t.Skipf("pending: %s\n%s", s.pending, wrong)
	case wrong != "":
		t.Errorf("\n%s", wrong)
	}
}

func (s *situation) wrong(rounds []heard, killed bool) string {
	var b strings.Builder
	for i, got := range rounds {
		var want newsRound // after its last round nothing changes, so that nobody is told any more
		if i < len(s.rounds) {
			want = s.rounds[i]
		}
		expected, told := want.told, slices.Concat(got.told, got.notices)
		if killed || i >= len(s.rounds) { // a round that is begun anew counts as one more, for notices
			expected, told = slices.DeleteFunc(slices.Clone(expected), isNotice), got.told
		}
		unexpected, missing := compareTold(expected, told, toldFits)
		writeDifference(&b, fmt.Sprintf("round %d: told", i+1), told, unexpected, missing)
		if want.mails != nil && !killed { // a mail comes again if its server was not heard
			unexpected, missing := compareTold(want.mails, got.mails, mailFits)
			writeDifference(&b, fmt.Sprintf("round %d: mails", i+1), got.mails, unexpected, missing)
		}
		if len(got.views) > 0 {
			fmt.Fprintf(&b, "round %d: commands say otherwise than the alerts\n  %s\n", i+1, strings.Join(got.views, "\n  "))
		}
		for j, command := range want.commands {
			var missing, unexpected []string
			for _, part := range command.says {
				forbidden, not := strings.CutPrefix(part, "! ")
				switch is := fits("…"+strings.TrimPrefix(part, "! ")+"…", got.said[j]); {
				case !is && !not:
					missing = append(missing, part)
				case is && not:
					unexpected = append(unexpected, forbidden)
				}
			}
			writeDifference(&b, fmt.Sprintf("round %d: $ %s", i+1, command.line), linesOf(got.said[j]), unexpected, missing)
		}
	}
	if missing := s.neverNoticed(rounds); killed {
		writeDifference(&b, "in the end: told", nil, nil, missing)
	}
	return b.String()
}

// neverNoticed returns the notices that are expected in some round, and came in none, whatever their reason.
func (s *situation) neverNoticed(rounds []heard) []string {
	var expected, notices []string
	for _, r := range s.rounds {
		for _, line := range r.told {
			if parts := strings.SplitN(line, ": ", 3); isNotice(line) && len(parts) > 1 {
				expected = append(expected, parts[0]+": "+strings.TrimSuffix(parts[1], "…")+"…")
			}
		}
	}
	for _, r := range rounds {
		notices = append(notices, r.notices...)
	}
	_, missing := compareTold(expected, notices, toldFits)
	return missing
}

// writeDifference writes what is said, each line with a mark, unless all of it is as expected.
func writeDifference(b *strings.Builder, title string, said, unexpected, missing []string) {
	if len(unexpected)+len(missing) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, line := range said {
		mark := "as expected"
		if slices.ContainsFunc(unexpected, func(part string) bool { return part == line || strings.Contains(line, part) }) {
			mark = "UNEXPECTED "
		}
		fmt.Fprintf(b, "  %s  %s\n", mark, line)
	}
	for _, line := range missing {
		fmt.Fprintf(b, "  MISSING      %s\n", line)
	}
}

// transcript writes what is told as the sections of a scenario.
func transcript(rounds []heard) string {
	var b strings.Builder
	for i, r := range rounds {
		fmt.Fprintf(&b, "\n-- %d told --\n", i+1)
		for _, line := range slices.Concat(r.told, r.notices) {
			fmt.Fprintln(&b, line)
		}
		if len(r.told)+len(r.notices) == 0 {
			fmt.Fprintln(&b, "nothing")
		}
		if len(r.mails) > 0 {
			fmt.Fprintf(&b, "-- %d mails --\n%s\n", i+1, strings.Join(r.mails, "\n"))
		}
		for _, said := range r.said {
			fmt.Fprintln(&b, said)
		}
	}
	return b.String()
}

// isNotice reports whether a line of what is told is a notice: OWNER notice URL: STATE: REASON.
func isNotice(line string) bool {
	_, rest, _ := strings.Cut(line, " ")
	return strings.HasPrefix(rest, "notice ")
}
