package match

import (
	"bytes"
	"crypto/sha256"
	"iter"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// The oracle is what Match must agree with: it reads pages word by word, as strings, with no hash and no
// index, looks for each keyword at every word, and computes relevances in fractions.

// wanted is a keyword as the oracle understands it, beside the Keyword that means the same.
type wanted struct {
	Keyword
	words  []string       // folded
	stems  [][]string     // of the words
	kind   kind           // of all words, but prefix of the last alone
	near   int            // 0 for a phrase
	field  int            // -1 for any
	symbol *regexp.Regexp // instead of all this, matched at every byte of a block
	unit   string         // of the symbol: what an occurrence has in it
}

type wantedGroup struct {
	mode   Mode
	wanted []wanted
	groups []wantedGroup
}

type oraclePage struct {
	text   *webrace.Text
	blocks [][]oracleWord
	lower  []string
	words  int
}

type oracleWord struct {
	folded, stem string
	start, end   int
}

func readPage(text *webrace.Text) (p oraclePage) {
	p.text = text
	p.blocks = make([][]oracleWord, len(text.Blocks))
	for _, b := range text.Blocks {
		p.lower = append(p.lower, strings.ToLower(string(text.Slice(b))))
	}
	analyze.Terms(text, analyze.Unknown, func(block, start, end int, folded []byte, stem string) bool {
		p.blocks[block] = append(p.blocks[block], oracleWord{string(folded), stem, start, end})
		p.words++
		return true
	})
	return p
}

func (w *wanted) is(i int, word oracleWord) bool {
	kind := w.kind
	if kind == prefix && i+1 < len(w.words) {
		kind = inflected
	}
	switch kind {
	case inflected:
		return slices.Contains(w.stems[i], word.stem)
	case exact:
		return word.folded == w.words[i]
	case prefix:
		return strings.HasPrefix(word.folded, w.words[i])
	}
	return strings.Contains(word.folded, w.words[i])
}

// occurrences counts the keyword in a block.
func (w *wanted) occurrences(p *oraclePage, block int) (n int) {
	if b := p.text.Blocks[block]; w.field >= 0 && int(b.Field) != w.field {
		return 0
	}
	words := p.blocks[block]
	switch {
	case w.symbol != nil:
		// The character before an occurrence may be the one after the occurrence before.
		raw := p.lower[block]
		if !strings.Contains(raw, w.unit) {
			return 0
		}
		for at := w.symbol.FindStringIndex(raw); at != nil; at = w.symbol.FindStringIndex(raw) {
			n++
			raw = raw[at[0]+strings.Index(raw[at[0]:], w.unit)+len(w.unit)-1:]
		}
	case w.near > 0:
		for from, to := 0, 0; to < len(words); to++ {
			if w.allWithin(words[max(from, to-w.near) : to+1]) {
				n++
				from = to + 1
			}
		}
	default:
		for from := 0; from+len(w.words) <= len(words); from++ {
			if w.isPhrase(words[from:]) {
				n++
			}
		}
	}
	return n
}

func (w *wanted) allWithin(words []oracleWord) bool {
	for i := range w.words {
		if !slices.ContainsFunc(words, func(word oracleWord) bool { return w.is(i, word) }) {
			return false
		}
	}
	return true
}

func (w *wanted) isPhrase(words []oracleWord) bool {
	for i := range w.words {
		if !w.is(i, words[i]) {
			return false
		}
		// The words of the oracle's phrases are never pairs of one run, unless they are one.
		if i > 0 && words[i].start < words[i-1].end {
			return false
		}
	}
	return true
}

func (g *wantedGroup) walk(scored bool, visit func(w *wanted, scored bool)) {
	scored = scored && g.mode != None
	for i := range g.wanted {
		visit(&g.wanted[i], scored && !g.wanted[i].None)
	}
	for i := range g.groups {
		g.groups[i].walk(scored, visit)
	}
}

func (g *wantedGroup) holds(present map[*wanted]bool) bool {
	found, members := 0, 0
	count := func(is bool) {
		members++
		if is {
			found++
		}
	}
	for i := range g.wanted {
		w := &g.wanted[i]
		if !w.None {
			count(present[w])
		} else if present[w] {
			return false
		}
	}
	for i := range g.groups {
		count(g.groups[i].holds(present))
	}
	switch g.mode {
	case Any:
		return members == 0 || found > 0
	case All:
		return found == members
	}
	return found == 0
}

type oracleVerdict struct {
	alerts    bool
	relevance int
	matched   webrace.Digest
	blank     bool // nothing that is told of has any text
}

var quarters = map[webrace.Field]int64{webrace.FieldTitle: 16, webrace.FieldHeading: 8, webrace.FieldBody: 4, webrace.FieldNavigation: 1}

// seenBefore is how a page stands to who has seen an earlier version: which blocks none of the versions remembered had,
// which the last had not, that one, if it matters, and whether only text that none had is told of.
type seenBefore struct {
	added, arrived []bool
	last           *oraclePage
	went           bool
	once           bool
}

// evidence is how much there is of each keyword in some blocks, in quarters.
type evidence map[*wanted]int64

func (g *wantedGroup) evidence(p *oraclePage, looked func(block int) bool) evidence {
	e := evidence{}
	g.walk(true, func(w *wanted, _ bool) {
		for block := range p.blocks {
			if looked(block) {
				e[w] += int64(w.occurrences(p, block)) * quarters[p.text.Blocks[block].Field]
			}
		}
	})
	return e
}

// relevance is that of so much evidence on a page of so many words.
func (g *wantedGroup) relevance(e evidence, words int) int {
	rest := big.NewRat(1, 1)
	g.walk(true, func(w *wanted, scored bool) {
		if scored && e[w] > 0 {
			rest.Mul(rest, new(big.Rat).Sub(big.NewRat(1, 1), oracleContribution(w.Weight, e[w], words)))
		}
	})
	percent := new(big.Rat).Sub(big.NewRat(1, 1), rest)
	percent.Mul(percent, big.NewRat(100, 1)).Add(percent, big.NewRat(1, 2))
	return int(new(big.Int).Quo(percent.Num(), percent.Denom()).Int64())
}

func (g *wantedGroup) met(e evidence) bool {
	present := map[*wanted]bool{}
	for w, n := range e {
		present[w] = n > 0
	}
	return g.holds(present)
}

// support returns the keywords that make the groups hold: in any and all, those of members that hold.
func (g *wantedGroup) support(e evidence) (all []*wanted) {
	if !g.met(e) || g.mode == None {
		return nil
	}
	for i := range g.wanted {
		if w := &g.wanted[i]; !w.None && e[w] > 0 {
			all = append(all, w)
		}
	}
	for i := range g.groups {
		all = append(all, g.groups[i].support(e)...)
	}
	return all
}

// oracle judges by the rules of News in docs/model.md. Who has seen nothing before (nil) is shown all of the page.
func oracle(g *wantedGroup, threshold int, p *oraclePage, before *seenBefore) (v oracleVerdict) {
	everywhere := func(int) bool { return true }
	all := g.evidence(p, everywhere)
	v.relevance = g.relevance(all, p.words)
	if !g.met(all) || v.relevance <= threshold {
		return v
	}
	told := everywhere
	v.alerts = true
	if before != nil {
		told, v.alerts = before.news(g, threshold, p, all)
	}
	if !v.alerts {
		return v
	}
	v.blank = isBlank(p.text, told)
	matched := map[int]bool{}
	g.walk(true, func(w *wanted, scored bool) {
		for block := range p.blocks {
			matched[block] = matched[block] || scored && told(block) && w.occurrences(p, block) > 0
		}
	})
	if maps.DeleteFunc(matched, func(_ int, is bool) bool { return !is }); len(matched) == 0 {
		for block := range p.blocks {
			if told(block) {
				matched[block] = true
			}
		}
	}
	v.matched = oracleDigest(p.text, matched)
	return v
}

// isBlank reports whether none of some blocks has any text. A reader of documents makes no such block.
func isBlank(text *webrace.Text, told func(block int) bool) bool {
	for i, b := range text.Blocks {
		if told(i) && len(bytes.TrimSpace(text.Slice(b))) > 0 {
			return false
		}
	}
	return true
}

// news returns which blocks are told of a page on which the condition holds.
func (s *seenBefore) news(g *wantedGroup, threshold int, p *oraclePage, all evidence) (told func(block int) bool, alerts bool) {
	added, arrived := func(block int) bool { return s.added[block] }, func(block int) bool { return s.arrived[block] }
	makes := slices.DeleteFunc(g.support(all), func(w *wanted) bool { return !g.counts(w) })
	if len(makes) == 0 {
		g.walk(true, func(w *wanted, scored bool) {
			if scored && all[w] > 0 {
				makes = append(makes, w)
			}
		})
	}
	in := func(looked func(int) bool) evidence {
		of := g.evidence(p, looked)
		maps.DeleteFunc(of, func(w *wanted, n int64) bool { return n == 0 || !slices.Contains(makes, w) })
		return of
	}
	known := g.evidence(p, func(block int) bool { return !s.added[block] })
	fresh := in(added)
	switch {
	case len(makes) == 0 && slices.Contains(s.added, true):
		return added, true
	case len(fresh) > 0 && (g.relevance(fresh, p.words) > threshold || !g.met(known) || g.relevance(known, p.words) <= threshold):
		return added, true
	case s.once || s.last == nil:
		return nil, false
	}
	before := g.evidence(s.last, func(int) bool { return true })
	met := g.met(before)
	held := met && g.relevance(before, s.last.words) > threshold && len(s.last.blocks) > 0
	if len(in(arrived)) > 0 {
		return arrived, !held
	}
	return func(int) bool { return true }, !met && s.went
}

// counts reports whether a keyword counts for the relevance.
func (g *wantedGroup) counts(which *wanted) (does bool) {
	g.walk(true, func(w *wanted, scored bool) { does = does || w == which && scored })
	return does
}

func oracleContribution(weight int, evidenceQuarters int64, words int) *big.Rat {
	length := big.NewRat(int64(words), 800)
	if least := big.NewRat(1, 4); length.Cmp(least) < 0 {
		length = least
	}
	if most := big.NewRat(4, 1); length.Cmp(most) > 0 {
		length = most
	}
	half := new(big.Rat).Add(big.NewRat(7, 10), new(big.Rat).Mul(big.NewRat(3, 10), length))
	f := big.NewRat(evidenceQuarters, 4)
	s := new(big.Rat).Quo(f, new(big.Rat).Add(f, half))
	if most := big.NewRat(98, 100); s.Cmp(most) > 0 {
		s = most
	}
	return s.Mul(s, big.NewRat(int64(weight), 5))
}

// seen leaves out what nobody sees.
var seen = strings.NewReplacer("\u00ad", "", "\u061c", "", "\u200b", "", "\u200e", "", "\u200f", "", "\u2060", "", "\ufeff", "",
	"\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

func oracleDigest(text *webrace.Text, blocks map[int]bool) webrace.Digest {
	set := map[string]bool{}
	for block := range blocks {
		sum := sha256.Sum256([]byte(strings.Join(strings.Fields(norm.NFC.String(seen.Replace(string(text.Slice(text.Blocks[block]))))), " ")))
		set[string(sum[:])] = true
	}
	var sums []string
	for sum := range set {
		sums = append(sums, sum)
	}
	slices.Sort(sums)
	return sha256.Sum256([]byte(strings.Join(sums, "")))
}

// inventLast makes up which blocks are new, and the version that was seen last: some of the page, and some of another.
func inventLast(n int, text *webrace.Text, pages []*webrace.Text) (added []bool, last *Last) {
	other := pages[(n+1)%len(pages)]
	was := &webrace.Text{Bytes: slices.Concat(text.Bytes, other.Bytes)}
	last = &Last{Went: n%2 == 0, Text: func() *webrace.Text { return was }}
	for i, block := range text.Blocks {
		arrived := n%7 != 6 && (i+n)%3 < 1+n%2
		added, last.Added = append(added, arrived && (i/3)%4 < n%5), append(last.Added, arrived)
		if !arrived {
			was.Blocks = append(was.Blocks, block)
		}
	}
	for i, block := range other.Blocks {
		if last.Went && i%4 < n%5 {
			block.Start, block.End = block.Start+int32(len(text.Bytes)), block.End+int32(len(text.Bytes))
			was.Blocks = append(was.Blocks, block)
		}
	}
	switch n % 8 {
	case 3:
		last = nil
	case 5:
		last.Text = func() *webrace.Text { return nil }
	}
	return added, last
}

// lastSeen is what the oracle knows of it.
func lastSeen(text *webrace.Text, added []bool, last *Last) *seenBefore {
	if last == nil {
		return &seenBefore{added: added, arrived: added}
	}
	was := last.Text()
	if was == nil {
		was = &webrace.Text{Bytes: text.Bytes}
		for i, block := range text.Blocks {
			if !last.Added[i] {
				was.Blocks = append(was.Blocks, block)
			}
		}
	}
	page := readPage(was)
	return &seenBefore{added: added, arrived: last.Added, last: &page, went: last.Went}
}

// Of the oracle's profiles some ask for the whole of a page again, some were changed after others, and they look at
// more levels or fewer.
func thresholdOf(profile int) int {
	if profile%11 == 10 {
		return AnyRelevance
	}
	return 1 + profile*7%60
}
func changeOf(profile int) Change     { return []Change{ChangeAdded, ChangeAdded, ChangePage}[profile%3] }
func revisionOf(profile int) int64    { return int64(1 + profile%5) }
func onceOf(profile int) bool         { return profile%5 == 2 }
func levelsOfProfile(profile int) int { return []int{0, 1, 2, 3, 4, 70}[profile%6] }
func reaches(profile, distance int) bool {
	return levelsOfProfile(profile) == 0 || distance < levelsOfProfile(profile)
}
func shownAdditions(profile int, seen int64) bool {
	return seen >= revisionOf(profile) && changeOf(profile) == ChangeAdded
}

func byID(alerts iter.Seq[Alert]) map[string]Alert {
	m := map[string]Alert{}
	for a := range alerts {
		m[a.ID] = a
	}
	return m
}
