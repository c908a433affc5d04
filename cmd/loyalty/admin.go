package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
)

type adminCmd struct {
	Create        adminCreate        `cmd:"" help:"Create a super-admin. The password is generated and printed, or read from standard input."`
	ResetPassword adminResetPassword `cmd:"" help:"Reset a super-admin's password and sign them out everywhere."`
	ResetFactor   adminResetFactor   `cmd:"" help:"Turn off two-step verification of a super-admin, or of a person of a business, who lost their phone."`
}

// passwordSource generates a password or reads it from standard input.
type passwordSource struct {
	PasswordStdin bool `help:"Read the password from standard input instead of generating one."`
}

func (s passwordSource) password() (string, error) {
	if !s.PasswordStdin {
		return newPassword(), nil
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// printGenerated prints a password unless it came from standard input.
func (s passwordSource) printGenerated(password string) {
	if !s.PasswordStdin {
		fmt.Println("password:", password)
	}
}

type adminCreate struct {
	Email string `required:"" help:"Their e-mail address."`
	Name  string `required:"" help:"Their name."`
	passwordSource
}

// Run creates a super-admin.
func (cmd adminCreate) Run(ctx context.Context) error {
	password, err := cmd.password()
	if err != nil {
		return err
	}
	return withApp(ctx, func(a *app) error {
		by := core.System(core.Tenant{}, "loyalty admin create")
		_, err := staff.CreateAdmin(ctx, a.db, by, staff.New{Name: cmd.Name, Email: cmd.Email, Password: password})
		if err != nil {
			return err
		}
		fmt.Printf("created super-admin %s <%s>\n", cmd.Name, cmd.Email)
		cmd.printGenerated(password)
		return nil
	})
}

type adminResetPassword struct {
	Email string `required:"" help:"Their e-mail address."`
	passwordSource
}

// Run resets the password.
func (cmd adminResetPassword) Run(ctx context.Context) error {
	password, err := cmd.password()
	if err != nil {
		return err
	}
	return withApp(ctx, func(a *app) error {
		by := core.System(core.Tenant{}, "loyalty admin reset-password")
		p, err := a.Auth.SetAdminPassword(ctx, by, cmd.Email, password)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("no active super-admin with the e-mail address %s", cmd.Email)
		}
		if err != nil {
			return err
		}
		fmt.Printf("reset the password of %s <%s> and ended their sessions\n", p.Name, p.Email)
		cmd.printGenerated(password)
		return nil
	})
}

type adminResetFactor struct {
	Email  string `required:"" help:"Their e-mail address."`
	Tenant string `help:"The slug of the person's business. Without it, the person is a super-admin."`
}

// Run turns off two-step verification.
func (cmd adminResetFactor) Run(ctx context.Context) error {
	return withApp(ctx, func(a *app) error {
		where, t := "the platform", core.Tenant{}
		if cmd.Tenant != "" {
			found, err := tenant.BySlug(ctx, a.db, cmd.Tenant)
			if errors.Is(err, core.ErrNotFound) {
				return fmt.Errorf("no business with the slug %s", cmd.Tenant)
			}
			if err != nil {
				return err
			}
			where, t = found.Name, found
		}
		p, err := a.Auth.ResetTwoFactor(ctx, core.System(t, "loyalty admin reset-factor"), cmd.Email)
		switch {
		case errors.Is(err, auth.ErrTwoFactorOff):
			return fmt.Errorf("two-step verification of %s is already off", cmd.Email)
		case errors.Is(err, core.ErrNotFound):
			return fmt.Errorf("no person at %s with the e-mail address %s", where, cmd.Email)
		case err != nil:
			return err
		}
		fmt.Printf("turned off two-step verification of %s <%s> and ended their sessions\n", p.Name, p.Email)
		return nil
	})
}
