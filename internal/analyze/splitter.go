package analyze

// Splitter splits texts into words, for those who need nothing but their hashes. It is used by one goroutine
// at a time. The zero value is ready to use.
type Splitter struct{ scanner scanner }

// Append appends the hashes of the folded words in the bytes start to end of a text, in their order: those
// that stand as Surface in a [Word].
func (s *Splitter) Append(hashes []uint64, text []byte, start, end int) []uint64 {
	for at := start; at < end; {
		if !inWord[text[at]] {
			at++
			continue
		}
		stop, hash, _ := asciiWord(text, at, end)
		if stop > at {
			hashes = append(hashes, hash)
			at = stop
			continue
		}
		for s.scanner.reset(text, at, end); s.scanner.next(); { // what is no ASCII needs more of a look
			hashes = append(hashes, s.scanner.hash())
			if s.scanner.beforeASCII() {
				break
			}
		}
		at = s.scanner.at
	}
	s.scanner.text = nil
	return hashes
}
