package analyze

import "sync/atomic"

// Dismissals remembers words that were looked up in vain, so that the next text that has them need not tell them apart,
// stem and look them up again. A word is known by the hash of its spelling, the language that its stem is of, and a
// number that stands for what was searched: another number is another memory. It is of fixed size; of those that fall
// on the same place the latest is kept. The zero value is empty, and it is safe for concurrent use.
type Dismissals [1 << dismissalBits]atomic.Uint64

const dismissalBits = 15

func (d *Dismissals) place(key uint64) *atomic.Uint64 { return &d[key>>(64-dismissalBits)] }

func (d *Dismissals) has(key uint64) bool { return d.place(key).Load() == key }

func (d *Dismissals) add(key uint64) {
	if place := d.place(key); place.Load() != key { // to load is cheap, and most often enough
		place.Store(key)
	}
}

// AddAllBut adds all words, but for those that were dismissed under the number. Numbers are random, and differ where
// what is searched differs; several that are added count as one, their sum.
func (w *Wanted) AddAllBut(dismissed *Dismissals, number uint64) {
	w.dismissed = dismissed
	w.number += number
}

// Dismiss lets a word be left out of all texts that are analyzed for what is wanted, since it is none of what
// [Wanted.AddAllBut] was called for. The word is one of the latest analysis, by its index.
func (a *Analyzer) Dismiss(w *Wanted, word int) { w.dismissed.add(a.spelt[word] ^ w.number) }

// named is the word of a token that begins as is wanted, before words are told apart.
const named = -1

// leaveOut tells the tokens that are wanted, where some words were dismissed.
func (a *Analyzer) leaveOut(w *Wanted) {
	found, accented := a.analysis.Wanted[:0], a.accented
	for n := range a.passages {
		first, end := a.passages[n].first, a.endOf(n)
		if !w.in(a.analysis.Tokens[first].Block) {
			continue
		}
		accented = from(accented, first)
		key := w.number ^ a.passages[n].language.ofLatinWords().salt()
		for i := first; i < end; i++ {
			spelling := a.analysis.Surfaces[i]
			if len(accented) > 0 && accented[0].token == i {
				spelling, accented = accented[0].spelt, accented[1:]
			}
			if !w.dismissed.has(spelling^key) || w.begin && a.analysis.Tokens[i].Word == named {
				found = append(found, i)
			}
		}
	}
	a.analysis.Wanted = found
}
