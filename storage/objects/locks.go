package objects

import "github.com/webrace/webrace/storage/internal/locks"

// users counts the calls under way, so that closing can wait for them. The zero value is open.
type users struct{ locks.Users }

func (u *users) enter() error {
	if !u.Enter() {
		return ErrClosed
	}
	return nil
}
