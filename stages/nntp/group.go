package nntp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace/stages/internal/agent"
)

// group is what a server tells of one: the lowest and the highest number of its articles, of which some may be gone.
// One that is empty has a highest below its lowest, or 0 and 0.
type group struct{ Low, High int64 }

// Group selects a group (RFC 3977, section 6.1.1).
func (c *client) Group(ctx context.Context, name string) (group, error) {
	if name == "" || strings.ContainsAny(name, " *") {
		return group{}, agent.Failf("%q names no newsgroup: write nntps://%s/comp.lang.go", name, c.visit.Host)
	}
	r, err := c.ask("GROUP", name)
	if err == nil && r.code == 483 && !c.secure {
		if err = c.startTLS(ctx); err == nil && c.secure {
			r, err = c.ask("GROUP", name)
		}
	}
	switch {
	case err != nil:
		return group{}, err
	case r.code == 411:
		return group{}, c.said("GROUP "+name, r, "it has no such newsgroup")
	case r.code != 211:
		return group{}, c.refused(ctx, "GROUP "+name, r)
	}
	marks := strings.Fields(r.text)
	if len(marks) < 3 {
		return group{}, c.said("GROUP "+name, r, "it does not tell the numbers of its articles")
	}
	low, err := parseNumber(marks[1])
	if err != nil {
		return group{}, err
	}
	high, err := parseNumber(marks[2])
	return group{low, high}, err
}

// overviewBytes is more than most lines of an overview have.
const overviewBytes = 2 << 10

// List returns the numbers of a range that exist, in ascending order.
func (c *client) List(first, last int64) (numbers []int64, err error) {
	verb := "OVER"
	if c.old {
		verb = "XOVER"
	}
	line, err := command(verb, rangeOf(first, last))
	if err != nil {
		return nil, err
	}
	if err := c.send(verb, line, (last-first+1)*overviewBytes); err != nil {
		return nil, err
	}
	r, err := c.answer(verb)
	switch {
	case err != nil:
		return nil, err
	case r.code == 420 || r.code == 423: // there are none
		return nil, nil
	case !c.old && (r.code == 500 || r.code == 503):
		c.old = true
		return c.List(first, last)
	case r.code != 224:
		return nil, c.refused(context.Background(), verb, r)
	}
	least := first
	err = readList(c.in, func(line []byte) error {
		n, err := parseOverview(line)
		if err == nil && (n < least || n > last) {
			err = agent.Failf("%s: %s lists article %d, where those from %d to %d were asked for, each once and in their order", c.visit.Host, verb, n, first, last)
		}
		if err != nil {
			return err
		}
		numbers, least = append(numbers, n), n+1
		return nil
	})
	if err != nil {
		return nil, c.failed(verb, err)
	}
	return numbers, nil
}

// Stat returns the Message-ID of the article that has a number; none if it is gone.
func (c *client) Stat(number int64) (id string, err error) {
	r, err := c.ask("STAT", strconv.FormatInt(number, 10))
	if err != nil || r.code != 223 {
		return "", err
	}
	return idOf(r), nil
}

// longestID is how many bytes a Message-ID may have (RFC 3977, section 3.6).
const longestID = 250

// idOf returns the Message-ID of an answer "22x number message-id"; none if it has none.
func idOf(r reply) string {
	words := strings.Fields(r.text)
	if len(words) < 2 || len(words[1]) > longestID || !strings.HasPrefix(words[1], "<") || !strings.HasSuffix(words[1], ">") {
		return ""
	}
	return words[1]
}

// answers is what came of asking for articles.
type answers struct {
	answered int // of those that were asked for
	gone     int // expired, or cancelled
	cut      bool
}

// Articles passes on articles in ascending order, at most so many bytes of each. After one that was cut, no other
// command can be answered.
func (c *client) Articles(numbers []int64, most int64, each func(article) error) (got answers, err error) {
	var lines strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&lines, "ARTICLE %d\r\n", n)
	}
	if err := c.send("ARTICLE", lines.String(), most); err != nil {
		return got, err
	}
	for _, n := range numbers {
		a, err := c.article(n, most)
		if err != nil {
			c.broken = true // there are more answers to come
			return got, err
		}
		got.answered++
		if a == nil {
			got.gone++
			continue
		}
		if err := each(*a); err != nil {
			c.broken = true
			return got, err
		}
		if a.truncated {
			got.cut = true
			return got, nil
		}
	}
	return got, nil
}

// article reads one article; nil if there is none.
func (c *client) article(number, most int64) (*article, error) {
	if err := c.conn.Expect(most + most/3); err != nil { // a line of a dot alone has four bytes instead of three
		return nil, err
	}
	r, err := c.answer("ARTICLE")
	switch {
	case err != nil:
		return nil, err
	case r.code == 423 || r.code == 430:
		return nil, nil
	case r.code != 220:
		return nil, c.refused(context.Background(), "ARTICLE", r)
	}
	if first, _, _ := strings.Cut(r.text, " "); first != strconv.FormatInt(number, 10) {
		return nil, c.said("ARTICLE", r, fmt.Sprintf("article %d was asked for", number))
	}
	body, cut, err := readArticle(c.in, most)
	if err != nil {
		return nil, c.failed("ARTICLE", err)
	}
	return &article{number: number, id: idOf(r), body: body, truncated: cut}, nil
}
