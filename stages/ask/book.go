package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/judgements"
	"github.com/webrace/webrace/xmlschema"
)

// answerKey and the key of a question are the key of its entry. Beside them are those of package judgements.
const answerKey = "a/"

// entry is what is kept of a question that was asked.
type entry struct {
	Day    int64  `json:"day"` // on which it was asked, since 1970, UTC
	Owner  string `json:"owner,omitzero"`
	Tokens int    `json:"tokens"`           // that were spent for it on that day
	Answer answer `json:"answer,omitempty"` // nil if there was none
}

// book knows what was answered, and what was spent. Nothing is counted twice: what was spent on a day follows from the
// entries of that day, which are durable together with the answers.
type book struct {
	state *pipeline.State
	limit int // tokens an owner and day; 0 for none
	keeps int64
	now   func() time.Time

	mu     sync.Mutex
	day    int64                    // of what follows
	spent  map[string]int           // by owner, and what is reserved for questions under way
	asking map[string]chan struct{} // questions under way; closed when there is an answer, or none
}

func newBook(o Options, state *pipeline.State) *book {
	return &book{
		state: state, limit: o.TokensADay, keeps: max(1, int64(time.Duration(o.Keep)/(24*time.Hour))), now: time.Now,
		spent: make(map[string]int), asking: make(map[string]chan struct{}),
	}
}

func (b *book) today() int64 { return b.now().Unix() / (24 * 60 * 60) }

// open finds what was spent today, and forgets what is old.
func (b *book) open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begin(b.today())
}

// begin begins a day: it finds what was spent on it, and forgets what is old. b.mu is held.
func (b *book) begin(day int64) error {
	b.day = day
	clear(b.spent)
	var old []string
	err := b.state.Each(func(key string, value []byte) error {
		var e entry
		if err := json.Unmarshal(value, &e); err != nil {
			return fmt.Errorf("what is kept of an answer is damaged: %w", err)
		}
		if e.Day == day && strings.HasPrefix(key, answerKey) {
			b.spent[e.Owner] += e.Tokens
		}
		if e.Day < day-b.keeps {
			old = append(old, key)
		}
		return nil
	})
	for _, key := range old {
		if err == nil {
			err = b.state.Put(nil, key, nil)
		}
	}
	return err
}

// enter returns the answer to a question that is kept, or lets the caller ask, who calls leave when that is done. It
// waits for another who asks the same.
func (b *book) enter(ctx context.Context, key string) (kept answer, leave func(), err error) {
	for {
		value, err := b.state.Get(answerKey + key)
		if err != nil {
			return nil, nil, err
		}
		if value != nil {
			var e entry
			if err := json.Unmarshal(value, &e); err != nil {
				return nil, nil, fmt.Errorf("what is kept of an answer is damaged: %w", err)
			}
			if e.Answer != nil {
				return e.Answer, nil, nil
			}
		}
		b.mu.Lock()
		done := b.asking[key]
		if done == nil {
			done = make(chan struct{})
			b.asking[key] = done
			b.mu.Unlock()
			return nil, func() {
				b.mu.Lock()
				delete(b.asking, key)
				b.mu.Unlock()
				close(done)
			}, nil
		}
		b.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// reserve takes tokens of an owner's budget; the error is an [unjudgedError] if that has too few left.
func (b *book) reserve(owner string, tokens int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if day := b.today(); day != b.day {
		if err := b.begin(day); err != nil {
			return err
		}
	}
	if b.limit > 0 && b.spent[owner]+tokens > b.limit {
		return unjudged("over_budget", "the budget of %d tokens a day is used up (ask.tokens_a_day)", b.limit)
	}
	b.spent[owner] += tokens
	return nil
}

// settle puts what was used in the place of what was reserved.
func (b *book) settle(owner string, reserved, used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent[owner] = max(0, b.spent[owner]+used-reserved) // it may be another day by now
}

// keep makes an answer durable, and what was spent for it.
func (b *book) keep(ctx context.Context, key, owner string, tokens int, a answer) error {
	e := entry{Day: b.today(), Owner: owner, Tokens: tokens, Answer: a}
	value, err := b.state.Get(answerKey + key)
	if err != nil {
		return err
	}
	var before entry
	if value != nil && json.Unmarshal(value, &before) == nil && before.Day == e.Day && before.Owner == e.Owner {
		e.Tokens += before.Tokens // spent today without an answer
	}
	if value, err = json.Marshal(e); err != nil {
		return err
	}
	return b.state.Keep(ctx, answerKey+key, value)
}

// keepFailure keeps what was spent without an answer.
func (b *book) keepFailure(ctx context.Context, key, owner string, tokens int) error {
	if tokens == 0 {
		return nil
	}
	return b.keep(ctx, key, owner, tokens, nil)
}

// refuse remembers why the item's annotation is dropped, for who explains it: durable when the item is done.
func (b *book) refuse(it *pipeline.Item, q *question, a answer, model string) error {
	aci, ok := it.Value.(*xmlschema.ACI)
	if !ok {
		return nil
	}
	value, err := json.Marshal(judgements.Refusal{Day: b.today(), Judgement: (*xmlschema.RecordJudgement)(q.judgement(a, model))})
	if err != nil {
		return err
	}
	return b.state.Put(it, judgements.Key(aci.ID), value)
}
