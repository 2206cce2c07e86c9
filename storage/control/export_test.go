package control

import "fmt"

// Pages returns how many pages a store's database has.
func Pages(s *Store) (n int, err error) {
	return n, s.writer.QueryRow("PRAGMA page_count").Scan(&n)
}

// LimitPages makes the disk of a store full when its database has so many pages.
func LimitPages(s *Store, n int) error {
	_, err := s.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", n))
	return err
}
