package analyze

import "github.com/webrace/webrace"

// Terms calls yield for each word of the text, in its order, with its block, the bytes at which it stands,
// its folded form and its stem, both as [Analyzer.AnalyzeIn] sees them: what finds the hash of one of them
// there finds it here. A keyword finds the word if its folded form has this stem among its [Stems]. The
// folded form is valid during the call only. Terms stops when yield returns false.
//
// It is for the oracles of tests, which compare words as strings; what runs compares hashes.
func Terms(text *webrace.Text, expected Language, yield func(block, start, end int, folded []byte, stem string) bool) {
	var a Analyzer
	analysis := a.AnalyzeIn(expected, text)
	stems := make([]string, len(analysis.Words))
	var words scanner
	for n, p := range a.passages {
		for _, t := range analysis.Tokens[p.first:a.endOf(n)] {
			words.reset(text.Bytes, int(t.Start), int(t.End))
			words.next()
			folded, stem := words.folded(), &stems[t.Word]
			if *stem == "" {
				*stem = StemIn(p.language, string(words.spelling()))
			}
			if !yield(int(t.Block), int(t.Start), int(t.End), folded, *stem) {
				return
			}
		}
	}
}
