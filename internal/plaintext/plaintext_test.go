package plaintext

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const space = " \t\n\f\r\v"

func blocks(text string) (all []string) {
	Blocks([]byte(text), func(start, end int) bool {
		all = append(all, strings.Join(strings.Fields(text[start:end]), " "))
		return true
	})
	return all
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":    {" \n\t\n", ""},
		"paragraphs": {"one\n\n two \r\n\r\nthree\r\rfour", "one|two|three|four"},
		"prose": {`
The ferry to Aegina leaves at ten in the morning, unless the wind blows from
the north, and comes back at six in the evening; who misses it has to stay
until the next day, for there is no other boat.

The island has three inns.
`, "The ferry to Aegina leaves at ten in the morning, unless the wind blows from the north, and comes back at six in the evening; " +
			"who misses it has to stay until the next day, for there is no other boat.|The island has three inns."},
		"quoted prose": {`
> The ferry to Aegina leaves at ten in the morning, unless the wind blows from
> the north, and comes back at six in the evening; who misses it has to stay
> until the next day.
`, "> The ferry to Aegina leaves at ten in the morning, unless the wind blows from > the north, and comes back at six in the evening; " +
			"who misses it has to stay > until the next day."},
		"prose in Japanese": {"東京から横浜まで船で行くことができますが、風が強い日には出ないことがありますので\nご注意ください。",
			"東京から横浜まで船で行くことができますが、風が強い日には出ないことがありますので ご注意ください。"},
		"a dash in prose": {`
The ferry to Aegina leaves at ten in the morning, unless the wind blows hard
- as it does in August - and comes back at six in the evening; who misses it
has to stay until the next day.
`, "The ferry to Aegina leaves at ten in the morning, unless the wind blows hard - as it does in August - and comes back at six in the " +
			"evening; who misses it has to stay until the next day."},
		"short lines": {"boat\ntrain\nsold out\n", "boat|train|sold out"},
		"log": {`
2026-11-28T10:00:01Z INFO  ferry docked at the southern pier of the harbour today
2026-11-28T10:00:02Z ERROR ferry lost
        at harbour.Pier.dock(Pier.java:17)
        at harbour.Main.main(Main.java:3)
2026-11-28T10:00:03Z INFO  ferry found
`, "2026-11-28T10:00:01Z INFO ferry docked at the southern pier of the harbour today|2026-11-28T10:00:02Z ERROR ferry lost " +
			"at harbour.Pier.dock(Pier.java:17) at harbour.Main.main(Main.java:3)|2026-11-28T10:00:03Z INFO ferry found"},
		"syslog": {"Nov 28 10:00:01 pier dock[17]: the ferry has been tied up, and goods are unloaded\nNov 28 10:00:02 pier dock[17]: done",
			"Nov 28 10:00:01 pier dock[17]: the ferry has been tied up, and goods are unloaded|Nov 28 10:00:02 pier dock[17]: done"},
		"dated lines that were broken": {`
28.11.2026 The ferry to Aegina does not leave today, since the sailors are on
strike until Monday.
27.11.2026 The ferry to Aegina leaves at ten.
`, "28.11.2026 The ferry to Aegina does not leave today, since the sailors are on strike until Monday.|27.11.2026 The ferry to Aegina leaves at ten."},
		"a list": {`
Wanted:
- a sailor who knows the ways of the northern sea, and of the winds there, and
  who can cook
- a cook
1. nobody else
`, "Wanted:|- a sailor who knows the ways of the northern sea, and of the winds there, and who can cook|- a cook|1. nobody else"},
		"long lines": {strings.Repeat("the ferry sails ", 12) + "\n" + strings.Repeat("a boat comes ", 12) + "\nso it goes",
			strings.TrimSpace(strings.Repeat("the ferry sails ", 12)) + "|" + strings.TrimSpace(strings.Repeat("a boat comes ", 12)) + "|so it goes"},
		"hashes": {`
9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  ferry.zip
a3bf4f1b2b0b822cd15d6c15b0f00a089f86d081884c7d659a2feaa0c55ad015  boats.zip
`, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 ferry.zip|a3bf4f1b2b0b822cd15d6c15b0f00a089f86d081884c7d659a2feaa0c55ad015 boats.zip"},
		"addresses": {"https://a.example/a/long/address/of/a/page\nhttps://a.example/an/even/longer/address/of/a/page\n",
			"https://a.example/a/long/address/of/a/page|https://a.example/an/even/longer/address/of/a/page"},
		"a date above": {"2026-11-28\nferry\nboat", "2026-11-28|ferry|boat"},
		"offers": {`
Senior engineer for ferries, in Piraeus, full time, at once
Cook on a boat that sails to the islands, in the summer
Captain
`, "Senior engineer for ferries, in Piraeus, full time, at once|Cook on a boat that sails to the islands, in the summer|Captain"},
	} {
		if got := strings.Join(blocks(c.text), "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// What is added to a list or log, in front or behind, leaves the other records what they were.
func TestRecordsAreWhatTheyWere(t *testing.T) {
	t.Parallel()
	records := []string{
		"2026-11-28 10:00 the ferry has been tied up at the southern pier, and goods are unloaded", "2026-11-28 10:01 done",
		"2026-11-28 10:02 the ferry leaves", "2026-11-28 10:03 fog", "2026-11-28 10:04 the ferry is on its way to the islands in spite of the fog",
	}
	for from := range records {
		for to := from + 1; to <= len(records); to++ {
			if got := blocks(strings.Join(records[from:to], "\n")); strings.Join(got, "|") != strings.Join(records[from:to], "|") {
				t.Errorf("%d to %d: %q", from, to, got)
			}
		}
	}
}

// FuzzBlocks holds that blocks are in order, not empty, without white space at their ends, and leave nothing else out;
// and that a paragraph is cut whatever stands around it.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte("one\ntwo\n\nthe ferry leaves at ten in the morning unless it\ndoes not\r- a\r\n  b"), []byte("x"))
	f.Fuzz(func(t *testing.T, text, other []byte) {
		at := 0
		var all []string
		Blocks(text, func(start, end int) bool {
			if start < at || start >= end || len(bytes.Trim(text[at:start], space)) > 0 || len(bytes.Trim(text[start:end], space)) != end-start {
				t.Fatalf("%q: %d to %d behind %d", text, start, end, at)
			}
			at = end
			all = append(all, string(text[start:end]))
			return true
		})
		if len(bytes.Trim(text[at:], space)) > 0 {
			t.Fatalf("%q: nothing of %q", text, text[at:])
		}
		var with []string
		longer := slices.Concat(bytes.Trim(other, space), []byte("\n\n"), text) // the two texts may share memory
		Blocks(longer, func(start, end int) bool {
			with = append(with, string(longer[start:end]))
			return true
		})
		if len(with) < len(all) || strings.Join(with[len(with)-len(all):], "\x00") != strings.Join(all, "\x00") {
			t.Fatalf("%q alone: %q; behind %q: %q", text, all, other, with)
		}
	})
}

// FuzzLines holds the fast ways of looking at lines against the plain ones.
func FuzzLines(f *testing.F) {
	for _, line := range []string{"one\ttwo -3", "Nov 28 boat", "(Mon, 2026-11-28) boat", "[10:00] boat", "- boat", "-boat", "• boat", "12. boat", "nov", "\x00", "one line of text\rtwo\r\nthree\n\n"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		compareWithSlow(t, content)
		ends := lineEnds{text: content, feed: -1, carriageReturn: -1}
		for i := 0; i < len(content); i = ends.after(i) {
			n := bytes.IndexAny(content[i:], "\r\n")
			want := i + n + 1
			switch {
			case n < 0:
				want = len(content)
			case bytes.HasPrefix(content[i+n:], []byte("\r\n")):
				want++
			}
			if got := ends.after(i); got != want {
				t.Fatalf("%q: the line at %d ends at %d, want %d", content, i, got, want)
			}
		}
		if len(content) > 0 && !mayBeMarked(content) && mark.Match(content) {
			t.Errorf("%q: marked", content)
		}
	})
}
