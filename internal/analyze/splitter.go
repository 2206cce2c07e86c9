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
		if stop == at { // what is no ASCII needs more of a look
			return s.appendRest(hashes, text, at, end)
		}
		hashes = append(hashes, hash)
		at = stop
	}
	return hashes
}

func (s *Splitter) appendRest(hashes []uint64, text []byte, start, end int) []uint64 {
	for s.scanner.reset(text, start, end); s.scanner.next(); {
		hashes = append(hashes, s.scanner.hash())
	}
	s.scanner.text = nil
	return hashes
}
