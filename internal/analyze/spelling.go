package analyze

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The rules of stemming speak of accents, which folded words have lost: so a word is also known as it is spelt. Of all
// accents these are kept, which the rules of one of our languages speak of.

const (
	firstAccented = 'à'
	lastAccented  = 'ÿ'
)

// unaccented holds what the letters from firstAccented on fold to; 0 stands for what is no letter with an accent.
var unaccented = [lastAccented - firstAccented + 1]byte([]byte("aaaaaa\x00ceeeeiiii\x00nooooo\x00ouuuu\x00\x00y"))

// accentedLetter returns the small letter, if r is one with an accent that spellings keep, and what it folds to.
func accentedLetter(r rune) (small rune, plain byte, ok bool) {
	if 'À' <= r && r <= 'Þ' {
		r |= 0x20
	}
	if r < firstAccented || r > lastAccented {
		return 0, 0, false
	}
	plain = unaccented[r-firstAccented]
	return r, plain, plain != 0
}

// withoutAccents folds a word that is spelt with accents, but for the letters that are kept.
func withoutAccents(spelt, kept string) string {
	for i := range len(spelt) {
		if spelt[i] >= utf8.RuneSelf {
			return withoutAccentsFrom(i, spelt, kept)
		}
	}
	return spelt
}

func withoutAccentsFrom(first int, spelt, kept string) string {
	var folded []byte // nil as long as it is the word itself
	for i := first; i < len(spelt); {
		r, size := utf8.DecodeRuneInString(spelt[i:])
		if _, plain, ok := accentedLetter(r); ok && !strings.ContainsRune(kept, r) {
			if folded == nil {
				folded = append(make([]byte, 0, len(spelt)), spelt[:i]...)
			}
			folded = append(folded, plain)
		} else if folded != nil {
			folded = append(folded, spelt[i:i+size]...)
		}
		i += size
	}
	if folded == nil {
		return spelt
	}
	return string(folded)
}

// kindred are endings of forms of one word which Snowball's rules leave apart in the language, and endings with accents
// without which its rules would not know them. A keyword that ends in one of a group, with its accents or not, is also
// looked for with the others. Left out is what would find more that is not meant: with its accent, format is a form of
// the verb.
var kindred = [languages][]ending{
	German: kin(`é üngen üngern`),
	French: kin(`ais/aise aise/aises/ais é és ée ées èrent ère ères ès èrement à éra éras érait érez éant îment îments ïque ïques ïquement ïsme
		ïsmes ïste ïstes ïcité ïté ï ïs ïe ïes`),
	Spanish: kin(`ción/ciones dad/dades logía/logías o/os a/as ó á é í ás és ís án én ía ías ían ría rías rían ríamos grafía grafías
		ábamos éramos ído ída ídos ídas`),
	Italian: kin(`ano/ana/ani/ane à è é ì ò ìa ìe ìo`),
	Portuguese: kin(`ção/ções ão/ões/ães ência ências ância âncias ável áveis ível íveis ária árias éria érias ã ãs ês és êm ô ôs á ás é ó
		ós éu ém éns ãos õem ía íam íamos íram ávamos ído ída ídos ídas éis óis`),
}

// kin returns each of the endings, folded, with every other one that it is kindred to, folded and not.
func kin(groups string) (all []ending) {
	for group := range strings.FieldsSeq(groups) {
		forms := strings.Split(group, "/")
		for _, form := range forms {
			for _, other := range forms {
				is, plain := withoutAccents(form, ""), withoutAccents(other, "")
				all = append(all, ending{is, other})
				if plain != other && plain != is {
					all = append(all, ending{is, plain})
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(e ending) bool { return e.is == e.becomes })
}

// spellings returns how a keyword may be spelt in texts of a language, as far as its stems may differ: as it is, with
// no accents, and with kindred endings.
func spellings(l Language, spelt, folded string) []string {
	all := []string{spelt}
	if spelt != folded {
		all = append(all, folded)
	}
	for _, e := range kindred[l] {
		if stem, ok := strings.CutSuffix(folded, e.is); ok {
			all = append(all, stem+e.becomes)
		}
	}
	return all
}
