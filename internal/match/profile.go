package match

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Profile is what one recipient wants to be told of.
type Profile struct {
	ID string
	// Under confines the profile to pages whose addresses begin so; empty for all. It concerns those who
	// are matched because everyone is; explicit recipients are chosen by the caller.
	Under string
	// Change is what part of a page concerns the profile once an earlier version of it was seen, if it is
	// matched because everyone is; and Revision orders profiles by when they were last changed.
	Change   Change
	Revision int64
	// Levels is how far from the start of its crawl a page may lie to concern the profile, if it is matched because
	// everyone is: see [webrace.Reach.Within]; 0 has no limit.
	Levels int
	// Remember is of how many versions the text counts as known to the profile, 0 to [MostBaselineVersions]; see
	// [Options]. Once means that this is so even where its conditions come to hold again.
	Remember int
	Once     bool
	// Threshold is the relevance, up to 100, that an alert must exceed: 0 stands for DefaultThreshold,
	// and AnyRelevance leaves the decision to the group's conditions.
	Threshold int
	Group
}

// Change determines what part of a page is looked at when an earlier version was seen already.
type Change uint8

const (
	ChangeAdded Change = iota // the blocks that are new
	ChangePage                // the whole page
	ChangeFirst               // nothing: only the first version matters
)

const (
	DefaultThreshold = 20
	AnyRelevance     = -1
)

// Group is a set of keywords and of further groups, and how many of them a page must have. The keywords
// of a group with None, and of the groups in it, count for nothing but that condition.
//
// A profile whose group is empty asks to be told of any change: any page that has a block to look at
// alerts, with a relevance of 100.
type Group struct {
	Match    Mode
	Keywords []Keyword
	Groups   []Group
}

// Mode is how many members of a group must be found.
type Mode uint8

const (
	Any  Mode = iota // at least one
	All              // each of them
	None             // not one
)

// Keyword is a word or phrase and its importance. Its key is matched without regard to case, diacritics
// and inflection. Several words are a phrase: they must follow one another. Within the key,
//
//   - "comput*" is any word that begins like this;
//   - "title:" in front restricts it to a field, as do "heading:", "body:" and "navigation:";
//   - "near:5" in front asks for its words in any order, the last at most 5 words after the first;
//   - in "C++", "C#", ".net", "node.js", "AT&T" the symbols must be there too, and the words uninflected.
//
// Other punctuation has no meaning. A key that begins with a quotation mark is taken without prefixes.
type Keyword struct {
	Key       string
	Weight    int    // 1, not important, to 5
	None      bool   // the page must not have it, whatever its group demands of the others; Weight is unused
	Exact     bool   // match no other inflections
	Substring bool   // match inside longer words too
	Field     string // "title", "heading", "body" or "navigation": the same as a prefix of the key
}

// Warning is a fault of a profile that can be lived with, but which its owner should know of.
type Warning struct {
	Keyword string // empty if it concerns the whole profile
	Message string
	Useless bool // no page meets the profile, whatever its weights: it should not be accepted
}

func (w Warning) String() string {
	if w.Keyword == "" {
		return w.Message
	}
	return fmt.Sprintf("keyword %q %s", w.Keyword, w.Message)
}

const (
	mostKeywords = 10_000
	deepestGroup = 16
)

// Compiled is a profile made ready for matching. It is immutable, and belongs to no index until added.
// There may be millions of them, so those that ask for any of their keywords, as most do, hold no more
// than these.
type Compiled struct {
	id, under  string
	revision   int64
	atoms      []atom
	conditions *conditions // nil if any of the keywords will do, and each of them counts
	threshold  int8        // -1 if any relevance will do
	change     Change
	remember   uint8
	once       bool
	levels     int32
}

// conditions are what a page must meet beside the relevance.
type conditions struct {
	condition
	need []int // atoms of which a page must have one,
	none bool  // unless this is set: no page can be ruled out
	all  bool  // there is no more to it than that a page must have all the atoms, each of which counts
}

// ID returns the profile's ID.
func (c *Compiled) ID() string { return c.id }

// Compile checks the profile and makes it ready. Keywords that cannot be found in any page, such as those
// without a word, are left out with a warning; it is an error if none remains.
func Compile(p Profile) (*Compiled, []Warning, error) {
	c := Compiled{id: p.ID, under: p.Under, revision: p.Revision, change: p.Change, remember: uint8(p.Remember), once: p.Once, threshold: int8(p.Threshold), levels: int32(min(max(p.Levels, 0), math.MaxInt32))}
	switch {
	case p.Threshold == 0:
		c.threshold = DefaultThreshold
	case p.Threshold < AnyRelevance || p.Threshold > 100:
		return nil, nil, fmt.Errorf("compile profile %q: threshold %d is not between 0 and 100", p.ID, p.Threshold)
	}
	if p.Change > ChangeFirst {
		return nil, nil, fmt.Errorf("compile profile %q: unknown scope of change %d", p.ID, p.Change)
	}
	if p.Remember < 0 || p.Remember > MostBaselineVersions {
		return nil, nil, fmt.Errorf("compile profile %q: it cannot remember %d versions", p.ID, p.Remember)
	}
	b := builder{Compiled: c, known: map[string]int{}, common: map[int]bool{}}
	need, err := b.group(p.Group, 0, false)
	if err == nil && b.given > 0 && len(b.atoms) == 0 {
		err = errors.New("none of its keywords has a word in it")
	}
	if err != nil {
		return nil, b.warnings, fmt.Errorf("compile profile %q: %w", p.ID, err)
	}
	var deduced *deduction
	if len(b.atoms) == 0 || p.Match != Any || len(p.Groups) > 0 || b.unscored {
		b.conditions = b.settle(need)
		b.conditions.all = len(b.atoms) > 0 && p.Match == All && len(p.Groups) == 0 && !b.unscored
		deduced = b.checkConditions()
	}
	b.warnUnreachable(deduced)
	c = b.Compiled // a copy, so that the builder is not kept
	c.atoms = slices.Clip(c.atoms)
	return &c, b.warnings, nil
}

// builder collects the parts of a profile while its groups are walked.
type builder struct {
	Compiled
	condition condition
	known     map[string]int // atoms by what they say
	common    map[int]bool   // atoms that are a word of nearly every page
	given     int            // keywords met
	unscored  bool           // there is one that does not count
	warnings  []Warning
}

// group adds the group's keywords and conditions. It returns the atoms of which a page must have one for
// the group to hold, or nil if it may hold without any.
func (b *builder) group(g Group, depth int, unscored bool) (need []int, err error) {
	if depth > deepestGroup {
		return nil, fmt.Errorf("groups within groups beyond a depth of %d", deepestGroup)
	}
	if g.Match > None {
		return nil, fmt.Errorf("unknown kind of group %d", g.Match)
	}
	unscored = unscored || g.Match == None
	var members [][]int
	var forbidden []int
	for _, k := range g.Keywords {
		i, err := b.keyword(k, unscored || k.None)
		switch {
		case err != nil:
			return nil, fmt.Errorf("keyword %q %w", k.Key, err)
		case i < 0:
		case k.None:
			forbidden = append(forbidden, i)
		default:
			b.condition.push(i)
			members = append(members, []int{i})
		}
	}
	for _, inner := range g.Groups {
		atoms, err := b.group(inner, depth+1, unscored)
		if err != nil {
			return nil, err
		}
		members = append(members, atoms)
	}
	b.condition.combine(g.Match, len(members))
	if len(forbidden) > 0 {
		for _, i := range forbidden {
			b.condition.push(i)
		}
		b.condition.combine(None, len(forbidden))
		b.condition.combine(All, 2)
	}
	return b.needed(g.Match, members), nil
}

// needed returns what a page must have one of for a group to hold, given the same of its members.
func (b *builder) needed(mode Mode, members [][]int) (need []int) {
	for _, atoms := range members {
		switch {
		case mode == Any && atoms == nil:
			return nil
		case mode == Any:
			need = append(need, atoms...)
		case mode == All && atoms != nil && (need == nil || b.rarer(atoms, need)):
			need = atoms
		}
	}
	return need
}

// rarer guesses whether fewer pages have one of the atoms x than one of y: more words, and longer ones,
// are rarer.
func (b *builder) rarer(x, y []int) bool {
	if len(x) != len(y) {
		return len(x) < len(y)
	}
	shortest := func(atoms []int) int {
		least := math.MaxInt
		for _, i := range atoms {
			least = min(least, len(b.atoms[i].written))
		}
		return least
	}
	return shortest(x) > shortest(y)
}

// keyword adds a keyword, or finds it among those added, and returns its index; -1 if it is left out.
func (b *builder) keyword(k Keyword, unscored bool) (int, error) {
	if b.given++; b.given > mostKeywords {
		return 0, fmt.Errorf("is one more than the %d a profile may have", mostKeywords)
	}
	if !unscored && (k.Weight < 1 || k.Weight > 5) {
		return 0, fmt.Errorf("has the weight %d, which is not between 1 and 5", k.Weight)
	}
	a, doubts, err := parse(k)
	if err != nil {
		return 0, err
	}
	for _, doubt := range doubts {
		b.warnings = append(b.warnings, Warning{Keyword: k.Key, Message: doubt})
	}
	if a.wordless() {
		return -1, nil
	}
	if unscored {
		b.unscored = true
	} else {
		a.weight = uint8(k.Weight)
	}
	saying := a.saying()
	i, known := b.known[saying]
	if !known {
		b.known[saying], b.common[len(b.atoms)] = len(b.atoms), slices.Contains(doubts, nearlyEveryPage)
		b.atoms = append(b.atoms, a)
		return len(b.atoms) - 1, nil
	}
	if b.atoms[i].weight > 0 && a.weight > 0 {
		b.warnings = append(b.warnings, Warning{Keyword: k.Key, Message: fmt.Sprintf("says the same as %q: they count once, with the higher weight", b.atoms[i].written)})
	}
	b.atoms[i].weight = max(b.atoms[i].weight, a.weight)
	b.atoms[i].take(&a)
	return i, nil
}

// settle returns the conditions of the profile. If its group may hold on any page, an alert still needs a
// relevance above zero and thus one of the keywords that count.
func (b *builder) settle(need []int) *conditions {
	if need == nil && b.threshold >= 0 {
		for i := range b.atoms {
			if b.atoms[i].weight > 0 {
				need = append(need, i)
			}
		}
	}
	none := len(b.atoms) == 0 || need == nil && b.threshold < 0
	slices.Sort(need)
	return &conditions{condition: b.condition, need: slices.Compact(need), none: none}
}
