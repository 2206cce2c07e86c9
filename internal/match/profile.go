package match

import (
	"errors"
	"fmt"
	"math"
)

// Profile is what one recipient wants to be told of.
type Profile struct {
	ID string
	// Threshold is the relevance, up to 100, that an alert must exceed: 0 stands for DefaultThreshold,
	// and AnyRelevance leaves the decision to the group's conditions.
	Threshold int
	Group
}

const (
	DefaultThreshold = 20
	AnyRelevance     = -1
)

// Group is a set of keywords and of further groups, and how many of them a page must have. The keywords
// of a group that says None, and of the groups in it, count for nothing but that condition.
//
// A profile whose group is empty asks to be told of any change: any page that has a block to look at
// alerts, with a relevance of 100.
type Group struct {
	Match    Mode
	Keywords []Keyword
	Groups   []Group
}

// Mode says how many members of a group must be found.
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
	None      bool   // the page must not have it, whatever its group says of the others; Weight is unused
	Exact     bool   // match no other inflections
	Substring bool   // match inside longer words too
	Field     string // "title", "heading", "body" or "navigation": the same as a prefix of the key
}

// Warning is a fault of a profile that can be lived with, but which its owner should know of.
type Warning struct {
	Keyword string // empty if it concerns the whole profile
	Message string
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
type Compiled struct {
	id        string
	threshold int // -1 if any relevance will do
	atoms     []atom
	gate      gate
	keys      []key // an alert needs a page that has one of them,
	always    bool  // unless this is set
}

// ID returns the profile's ID.
func (c *Compiled) ID() string { return c.id }

// Compile checks the profile and makes it ready. Keywords that cannot be found in any page, such as those
// without a word, are left out with a warning; it is an error if none remains.
func Compile(p Profile) (*Compiled, []Warning, error) {
	b := builder{Compiled: Compiled{id: p.ID, threshold: p.Threshold}, known: map[string]int{}}
	switch {
	case p.Threshold == 0:
		b.threshold = DefaultThreshold
	case p.Threshold < AnyRelevance || p.Threshold > 100:
		return nil, nil, fmt.Errorf("compile profile %q: threshold %d is not between 0 and 100", p.ID, p.Threshold)
	}
	need, err := b.group(p.Group, 0, false)
	if err == nil && b.given > 0 && len(b.atoms) == 0 {
		err = errors.New("none of its keywords has a word in it")
	}
	if err != nil {
		return nil, b.warnings, fmt.Errorf("compile profile %q: %w", p.ID, err)
	}
	b.post(need)
	b.warnUnreachable()
	c := b.Compiled // a copy, so that the builder is not kept
	return &c, b.warnings, nil
}

// builder collects the parts of a profile while its groups are walked.
type builder struct {
	Compiled
	known    map[string]int // atoms by identity
	given    int            // keywords met
	warnings []Warning
}

// group adds the group's keywords and conditions. It returns the keys of which a page must have one for
// the group to hold, or nil if it may hold without any.
func (b *builder) group(g Group, depth int, unscored bool) (need []key, err error) {
	if depth > deepestGroup {
		return nil, fmt.Errorf("groups within groups beyond a depth of %d", deepestGroup)
	}
	if g.Match > None {
		return nil, fmt.Errorf("unknown kind of group %d", g.Match)
	}
	unscored = unscored || g.Match == None
	var members [][]key
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
			b.gate.push(i)
			members = append(members, []key{b.atoms[i].key()})
		}
	}
	for _, inner := range g.Groups {
		keys, err := b.group(inner, depth+1, unscored)
		if err != nil {
			return nil, err
		}
		members = append(members, keys)
	}
	b.gate.combine(g.Match, len(members))
	if len(forbidden) > 0 {
		for _, i := range forbidden {
			b.gate.push(i)
		}
		b.gate.combine(None, len(forbidden))
		b.gate.combine(All, 2)
	}
	return needed(g.Match, members), nil
}

// needed returns what a page must have one of for a group to hold, given the same of its members.
func needed(mode Mode, members [][]key) (need []key) {
	for _, keys := range members {
		switch {
		case mode == Any && keys == nil:
			return nil
		case mode == Any:
			need = append(need, keys...)
		case mode == All && keys != nil && (need == nil || rarer(keys, need)):
			need = keys
		}
	}
	return need
}

// rarer guesses whether fewer pages have one of the keys a than one of b: a longer word is rarer.
func rarer(a, b []key) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	shortest := func(keys []key) int {
		least := math.MaxInt
		for _, k := range keys {
			least = min(least, k.length)
		}
		return least
	}
	return shortest(a) > shortest(b)
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
		b.warnings = append(b.warnings, Warning{k.Key, doubt})
	}
	if len(a.terms) == 0 {
		return -1, nil
	}
	if !unscored {
		a.weight = k.Weight
	}
	identity := a.identity()
	i, known := b.known[identity]
	if !known {
		b.known[identity] = len(b.atoms)
		b.atoms = append(b.atoms, a)
		return len(b.atoms) - 1, nil
	}
	if b.atoms[i].weight > 0 && a.weight > 0 {
		b.warnings = append(b.warnings, Warning{k.Key, fmt.Sprintf("says the same as %q: they count once, with the higher weight", b.atoms[i].written)})
	}
	b.atoms[i].weight = max(b.atoms[i].weight, a.weight)
	return i, nil
}

// post settles by which keys the profile is found. If its group may hold on any page, an alert still
// needs a relevance above zero and thus one of the keywords that count.
func (b *builder) post(need []key) {
	if need == nil && b.threshold >= 0 {
		for i := range b.atoms {
			if b.atoms[i].weight > 0 {
				need = append(need, b.atoms[i].key())
			}
		}
	}
	b.always = len(b.atoms) == 0 || need == nil && b.threshold < 0
	met := make(map[uint64]bool, len(need))
	for _, k := range need {
		if !met[k.hash] {
			met[k.hash] = true
			b.keys = append(b.keys, k)
		}
	}
}

func (b *builder) warnUnreachable() {
	if len(b.atoms) == 0 {
		return
	}
	rest := 1.0
	for i := range b.atoms {
		rest *= 1 - contribution(b.atoms[i].weight, mostSaturation)
	}
	if best := relevance(rest); best <= b.threshold {
		b.warnings = append(b.warnings, Warning{Message: fmt.Sprintf("can never alert: with these weights no page has a relevance above %d, and the threshold is %d", best, b.threshold)})
	}
}
