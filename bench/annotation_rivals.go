package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/match"
)

// The rivals are given what they can do: literal keywords of one word, and the text of the page folded, in
// ASCII. Those that find keywords and do not know whose these are have two rows: beside us as we find the
// keywords, and as we score everyone besides.

// duel is one page and so many profiles, before all rivals.
type duel struct {
	*annotation
	of        string // begins the names of rows
	interests []interest
	ours      *built
	text      *webrace.Text
	plain     []byte // the text for rivals
	blocks    []webrace.Block
	words     int

	keywords []string // of all profiles, sorted
	present  []string // those of the page, as our index finds them, sorted
	alerts   map[string]int
	dir      string // for those that are programs
}

// rival is one of them, ready to be timed.
type rival struct {
	name   string
	call   stopwatch
	does   work
	goal   *goal
	bytes  int64 // of the heap
	memory *goal
	close  func() error // nil if there is nothing to close
}

// work is how much of ours a rival does.
type work int

const (
	finds      work = iota // the keywords in the text
	scores                 // profiles as well
	readsPages             // and extracts the text from HTML before
	works
)

func (w work) String() string {
	return [...]string{"find the keywords", "find the keywords and score everyone", "full path, everyone"}[w]
}

func (a *annotation) measureRivals(w *workload) error {
	for _, n := range a.scale.rivals {
		d, err := a.newDuel(w, n)
		if err == nil {
			err = d.fight()
			err = errors.Join(err, os.RemoveAll(d.dir))
		}
		if err != nil {
			return fmt.Errorf("rivals at %s profiles: %w", grouped(n), err)
		}
	}
	return nil
}

func (a *annotation) newDuel(w *workload, n int) (*duel, error) {
	d := &duel{annotation: a, of: fmt.Sprintf("%s, %s literal words: ", w.name, grouped(n)), text: a.texts[a.typical]}
	keywords := make(map[string]bool)
	err := w.interests(a.corpus, n, false, func(_ int, i *interest) error {
		d.interests = append(d.interests, *i)
		for _, k := range i.keywords {
			keywords[k.key] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.keywords = slices.Sorted(maps.Keys(keywords))
	d.fold()
	if d.present, err = presentOf(d.keywords, d.text); err != nil {
		return nil, err
	}
	if d.ours, err = w.build(a.corpus, n, profileOptions{literal: true}); err != nil {
		return nil, err
	}
	d.alerts = d.ours.relevances(d.text)
	d.dir, err = os.MkdirTemp("", "webrace-bench")
	return d, err
}

// fold makes the text for rivals. What is no ASCII becomes part of a word or separates words, as it does for us.
func (d *duel) fold() {
	for _, b := range d.text.Blocks {
		raw, start, end := d.text.Slice(b), len(d.plain), 0
		gap := func(to int) {
			for _, c := range raw[min(end, to):to] {
				if c >= 0x80 || c < ' ' {
					c = ' '
				}
				d.plain = append(d.plain, c)
			}
		}
		analyze.Words(raw, func(from, to int, folded []byte) bool {
			gap(from)
			for _, c := range folded {
				if c >= 0x80 {
					c = '_'
				}
				d.plain = append(d.plain, c)
			}
			end = to
			d.words++
			return true
		})
		gap(len(raw))
		d.blocks = append(d.blocks, webrace.Block{Start: int32(start), End: int32(len(d.plain)), Field: b.Field})
		d.plain = append(d.plain, '\n')
	}
}

// presentOf finds the keywords that a text has, by an index of a profile for each.
func presentOf(keywords []string, text *webrace.Text) (present []string, err error) {
	as := profileOptions{literal: true, any: true}
	profiles := make([]*match.Compiled, len(keywords))
	for i, key := range keywords {
		if profiles[i], err = as.compiled(i, &interest{keywords: []wish{{key, 1}}}); err != nil {
			return nil, err
		}
	}
	var x built
	x.Add(profiles...)
	found := x.relevances(text)
	for i, key := range keywords {
		if _, is := found[idOf(i)]; is {
			present = append(present, key)
		}
	}
	return present, nil
}

// same compares the keywords that a rival found, each any number of times, with ours.
func (d *duel) same(found []string) error {
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, d.present) {
		return fmt.Errorf("it finds %d of the keywords, and we %d", len(found), len(d.present))
	}
	return nil
}

// mostForSlow is how many profiles there may be before those that look at each of them.
const mostForSlow = 1000

func (d *duel) fight() (err error) {
	enter := []func() (*rival, error){d.ahoCorasick, d.grep, d.hyperscan}
	if len(d.interests) <= mostForSlow {
		enter = append(enter, d.regexp, d.papersLoop, d.bleve, d.bleveTuned)
	}
	path := fullPath{x: d.ours}
	all := []stopwatch{
		finds:      calls(d.scale.round, func() { d.ours.lookUp(d.text) }),
		scores:     calls(d.scale.round, func() { d.ours.count(d.text, toEveryone()) }),
		readsPages: calls(d.scale.round, func() { path.count(d.page, toEveryone()) }),
	}
	var rivals []*rival
	for _, prepare := range enter {
		r, err := prepare()
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		if r.close != nil {
			defer func() { err = errors.Join(err, r.close()) }()
		}
		rivals, all = append(rivals, r), append(all, r.call)
	}
	times, err := clock(d.scale.rounds, all...)
	if err != nil {
		return err
	}
	for i, r := range rivals {
		d.rows(r, times[:works], times[int(works)+i])
	}
	return nil
}

func (d *duel) rows(r *rival, ours []taken, its taken) {
	alerts := float64(len(d.alerts))
	d.table.tookAgainst(d.of+r.does.String(), ours[r.does], alerts, r.name, its, r.goal)
	if r.does == finds {
		d.table.tookAgainst(d.of+scores.String(), ours[scores], alerts, r.name, its, nil)
	}
	if r.bytes > 0 {
		own, other := float64(d.ours.bytes)/1e6, float64(r.bytes)/1e6
		d.table.against(d.of+"memory", own, "MB", fmt.Sprintf("%s %s MB", r.name, number(other)), other, r.memory)
	}
	if its.CPU < ours[r.does].CPU {
		d.note("annotation: %s%s wins: %s µs of CPU, ours %s", d.of, r.name, number(micros(its.CPU)), number(micros(ours[r.does].CPU)))
	}
}

// atScale is a goal that is set for one number of profiles.
func (d *duel) atScale(limit float64) *goal {
	return goalOf(map[int]float64{100_000: limit}, len(d.interests))
}

// isWord reports whether the bytes stand alone.
func isWord(text []byte, start, end int) bool {
	return (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end]))
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

// papersLoop looks for every keyword of every profile in the text, one after the other, and scores as we do.
// Folding the page once for all is not counted.
func (d *duel) papersLoop() (*rival, error) {
	occurrences := func(key string) (n [fields]int) {
		word, at, block := []byte(key), 0, 0
		for {
			next := bytes.Index(d.plain[at:], word)
			if next < 0 {
				return n
			}
			start := at + next
			if isWord(d.plain, start, start+len(word)) {
				for int(d.blocks[block].End) < start {
					block++
				}
				n[d.blocks[block].Field]++
			}
			at = start + 1
		}
	}
	for number := range d.interests {
		id := idOf(number)
		if want, got := d.alerts[id], d.interests[number].relevanceOf(d.words, occurrences); got != want {
			return nil, fmt.Errorf("the papers' loop says relevance %d for %s, and we %d", got, id, want)
		}
	}
	return &rival{name: "the papers' loop", does: scores, goal: atMost(1.0 / 200), call: calls(d.scale.round, func() {
		for i := range d.interests {
			d.interests[i].relevanceOf(d.words, occurrences)
		}
	})}, nil
}

// ahoCorasick finds the keywords of all profiles in one pass over the bytes.
func (d *duel) ahoCorasick() (*rival, error) {
	before := heapInUse()
	trie := ahocorasick.NewTrieBuilder().AddStrings(d.keywords).Build()
	size := heapInUse() - before
	found := make([]bool, len(d.keywords))
	scan := func() {
		clear(found)
		trie.Walk(d.plain, func(end, n, pattern int64) bool {
			if isWord(d.plain, int(end-n+1), int(end+1)) {
				found[pattern] = true
			}
			return true
		})
	}
	scan()
	var keys []string
	for i, is := range found {
		if is {
			keys = append(keys, d.keywords[i])
		}
	}
	if err := d.same(keys); err != nil {
		return nil, fmt.Errorf("check of Aho-Corasick: %w", err)
	}
	return &rival{name: "BobuSumisu Aho-Corasick", goal: d.atScale(1 / 2.5), bytes: size, memory: d.atScale(1.0 / 50), call: calls(d.scale.round, scan)}, nil
}

// regexp finds the keywords as the alternatives of one expression.
func (d *duel) regexp() (*rival, error) {
	expression, err := regexp.Compile(`\b(?:` + strings.Join(d.keywords, "|") + `)\b`)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, key := range expression.FindAll(d.plain, -1) {
		keys = append(keys, string(key))
	}
	if err := d.same(keys); err != nil {
		return nil, fmt.Errorf("check of regexp: %w", err)
	}
	return &rival{name: "regexp alternation", call: calls(d.scale.round, func() { expression.FindAllIndex(d.plain, -1) })}, nil
}

// files writes the keywords, one a line, and the text for a program to read.
func (d *duel) files() (keywords, text string, err error) {
	keywords, text = filepath.Join(d.dir, "keywords"), filepath.Join(d.dir, "text")
	err = errors.Join(
		os.WriteFile(keywords, []byte(strings.Join(d.keywords, "\n")+"\n"), 0o666),
		os.WriteFile(text, d.plain, 0o666),
	)
	return keywords, text, err
}
