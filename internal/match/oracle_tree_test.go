package match

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
)

var (
	treePages = flag.Int("trees", 2_000, "how many pages TestOracleOfTrees reads")
	treeSeed  = flag.Uint64("trees-seed", 1, "the first tree of TestOracleOfTrees")
)

// The oracle of trees knows what docs/annotation.md states of the parts of a page, and goes by the tree of that alone.

// leaf is a block as the oracle knows it.
type leaf struct {
	field
	key  string // of its part; empty for none
	part int    // its number
}

type leaves []leaf

// leaves returns the blocks of the page, and of which part each is.
func (t *tree) leaves() (all leaves) {
	all = leaves{{field: field{words: "Harbour"}}}
	for i, b := range t.branches {
		b.findParts()
		all = append(all, leaf{field: field{words: t.prose[i]}})
		all = all.with(b, "", 0)
	}
	return all
}

// with adds the blocks of a branch, which are of a part if they are of none within it.
func (l leaves) with(b *branch, key string, part int) leaves {
	for _, u := range b.units {
		key, part := key, part
		if u.key != "" {
			key, part = u.key, len(l)+1
		}
		for _, f := range u.fields {
			l = append(l, leaf{f, key, part})
		}
		for _, b := range u.within {
			l = l.with(b, key, part)
		}
	}
	return l
}

// all returns what a unit holds, with what is within it.
func (u *unitOfTree) all() []field {
	all := slices.Clone(u.fields)
	for _, b := range u.within {
		for _, u := range b.units {
			all = append(all, u.all()...)
		}
	}
	return all
}

// findParts finds which units are parts, and reports whether any is, or has some within it: that is none itself.
func (b *branch) findParts() (found bool) {
	alike := make(map[string][]*unitOfTree)
	for _, u := range b.units {
		hasParts := false
		for _, b := range u.within {
			hasParts = b.findParts() || hasParts
		}
		u.key, found = "", found || hasParts
		hasLink := slices.ContainsFunc(u.all(), func(f field) bool { return f.link != "" })
		if hasParts || len(u.all()) > 32 || !hasLink && !b.isTable() {
			continue
		}
		class := ""
		if b.kind == "boxes" {
			class = u.class
		}
		alike[class] = append(alike[class], u)
	}
	for _, units := range alike {
		found = b.tell(units) || found
	}
	return found
}

// isTable reports whether units may be known by what they begin with.
func (b *branch) isTable() bool { return b.kind == "table" || b.kind == "dl" }

// tell finds which of some units are parts: those with a main link that no other has, or in tables with a beginning, if
// these are enough.
func (b *branch) tell(units []*unitOfTree) bool {
	least := 3
	if b.kind == "ul" {
		least = 2
	}
	if len(units) < least {
		return false
	}
	for _, u := range units {
		u.key = u.mainLink()
	}
	found := tellApart(units)
	if b.isTable() && found < len(units) {
		for _, u := range units {
			if first := u.fields[0].words; u.key == "" && len(u.all()) > 1 && strings.ContainsFunc(first, unicode.IsLetter) {
				u.key = "begins " + first
			}
		}
		found = tellApart(units)
	}
	if found < least {
		for _, u := range units {
			u.key = ""
		}
	}
	return found >= least
}

// tellApart takes away the keys that several have, and returns how many are left.
func tellApart(units []*unitOfTree) (left int) {
	times := make(map[string]int)
	for _, u := range units {
		times[u.key]++
	}
	for _, u := range units {
		if times[u.key] > 1 {
			u.key = ""
		} else if u.key != "" {
			left++
		}
	}
	return left
}

// mainLink returns the first link in a heading, or else that of the most text.
func (u *unitOfTree) mainLink() string {
	main := field{}
	for _, f := range u.all() {
		switch {
		case f.link == "":
		case f.isHeading:
			return f.link
		case len(f.words) > len(main.words):
			main = f
		}
	}
	return main.link
}

// says reports whether a page has a block, in a part with this key if there is one.
func (l leaves) says(words, key string) bool {
	return slices.ContainsFunc(l, func(other leaf) bool { return other.words == words && (key == "" || other.key == key) })
}

// of returns what a part holds, and its title.
func (l leaves) of(part int) (holds, title string) {
	rank := -1
	for _, one := range l {
		if one.part != part {
			continue
		}
		holds += one.words + "\n"
		is := 0
		if one.isHeading {
			is = 2
		} else if strings.ContainsFunc(one.words, unicode.IsLetter) {
			is = 1
		}
		if is > rank {
			rank, title = is, one.words
		}
	}
	return holds, title
}

// alike returns of the parts that hold something the first block of each.
func (l leaves) alike(holding string) (all leaves) {
	for i, one := range l {
		if one.part != 0 && (i == 0 || l[i-1].part != one.part) {
			if holds, _ := l.of(one.part); holds == holding {
				all = append(all, one)
			}
		}
	}
	return all
}

// ages returns how many versions ago each block was known last, the latest version of those before being the first.
func (l leaves) ages(before []leaves) (ages []int) {
	since := func(had func(leaves) bool) int {
		if n := slices.IndexFunc(before, had); n >= 0 {
			return n
		}
		return MostBaselineVersions
	}
	isKnown := func(one leaf) bool {
		_, title := l.of(one.part)
		return len(before) > 0 && before[0].says(title, one.key)
	}
	for _, one := range l {
		age := since(func(v leaves) bool { return v.says(one.words, "") })
		if one.part != 0 {
			holds, _ := l.of(one.part)
			alike := l.alike(holds)
			areMore := len(alike) > 1 && !slices.ContainsFunc(before, func(v leaves) bool { return len(v.alike(holds)) >= len(alike) })
			if isKnown(one) {
				age = since(func(v leaves) bool { return v.says(one.words, one.key) })
			} else if areMore && slices.ContainsFunc(alike, isKnown) {
				age = MostBaselineVersions
			}
		}
		ages = append(ages, age)
	}
	return ages
}

// isAs reports whether a page is as it was in the version before: nothing came, and nothing went.
func (l leaves) isAs(before []leaves, ages []int) bool {
	return len(before) > 0 && slices.Max(ages) == 0 && !slices.ContainsFunc(before[0], func(was leaf) bool { return !l.says(was.words, "") })
}

// TestOracleOfTrees changes random pages, and compares which blocks are new, and of which parts, with what follows
// from their trees.
func TestOracleOfTrees(t *testing.T) {
	t.Parallel()
	blocks, parts, news := 0, 0, 0
	for page, seed := 0, *treeSeed; page < *treePages; seed++ {
		tree := &tree{Rand: rand.New(rand.NewPCG(seed, 28))}
		remember := []int{1, 1, 2, 5, MostBaselineVersions}[tree.IntN(5)]
		var baseline Baseline
		var before []leaves
		for round := range 20 {
			page++
			for range 1 + tree.IntN(2) {
				tree.edit()
			}
			html, want := tree.html(), tree.leaves()
			read, err := extract.Document([]byte(html), "text/html; charset=utf-8", "http://site.example/", extract.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := baseline.Compare(read.Text)
			ages := want.ages(before)
			added := found.Added(remember)
			wrong := compareTree(read.Text, added, want, func(i int) bool { return ages[i] >= remember })
			if isSame := want.isAs(before, ages); found.Same != isSame {
				wrong += fmt.Sprintf("the page is as it was: %v, not %v\n", found.Same, isSame)
			}
			if wrong != "" {
				t.Fatalf("seed %d, round %d, remembered are %d versions:\n%s%s\nbefore it %v", seed, round, remember, wrong, html, before[:min(1, len(before))])
			}
			if baseline = found.Next; !found.Same {
				before = slices.Insert(before, 0, want)
				before = before[:min(len(before), MostBaselineVersions)]
			}
			for i, isNew := range added {
				blocks++
				if isNew {
					news++
				}
				if want[i].part != 0 {
					parts++
				}
			}
		}
	}
	t.Logf("%d blocks, %d of them in parts, %d new, 0 differences", blocks, parts, news)
}

// compareTree returns what is wrong about the blocks of a page.
func compareTree(text *webrace.Text, added []bool, want leaves, isNew func(int) bool) (wrong string) {
	if len(text.Blocks) != len(want) {
		return fmt.Sprintf("%d blocks are read, not %d\n", len(text.Blocks), len(want))
	}
	for i, b := range text.Blocks {
		words, one := string(text.Slice(b)), want[i]
		isOneWith := func(other leaf, block webrace.Block) bool {
			return (other.part == one.part) == (block.Entry == b.Entry)
		}
		switch {
		case words != one.words:
			wrong += fmt.Sprintf("block %d says %q, not %q\n", i, words, one.words)
		case (b.Entry != 0) != (one.part != 0), i > 0 && !isOneWith(want[i-1], text.Blocks[i-1]):
			wrong += fmt.Sprintf("block %d, %q, is of part %d, not %d\n", i, words, b.Entry, one.part)
		case added[i] != isNew(i):
			wrong += fmt.Sprintf("block %d, %q, of the part %q is new: %v\n", i, words, one.key, added[i])
		}
	}
	return wrong
}
