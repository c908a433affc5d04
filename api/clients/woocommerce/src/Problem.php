<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** A request that failed: refused by Loyalty with a problem document, or without a usable response. */
final class Problem extends \Exception
{
    /** The business rule that refused, "" if it was another reason. */
    public readonly string $rule;

    /** @var array<string, string[]> Errors by field. */
    public readonly array $errors;

    /**
     * @param int $status HTTP status; 0 without a response.
     * @param array<string, mixed>|null $document The problem document; null if the response had none.
     * @param int $after Seconds that Retry-After asks for.
     */
    public function __construct(
        public readonly int $status,
        string $message,
        public readonly ?array $document = null,
        public readonly int $after = 0
    ) {
        parent::__construct($message);
        $this->rule = (string) ($document['code'] ?? '');
        $this->errors = is_array($document['errors'] ?? null) ? $document['errors'] : [];
    }

    /** Reports whether the same request may succeed in a moment. */
    public function isBrief(): bool
    {
        return in_array($this->status, [0, 409, 429], true) || $this->status >= 500;
    }

    /** Reports whether Loyalty has refused for good. A token can be replaced, and a page comes from a proxy. */
    public function isFinal(): bool
    {
        return $this->document !== null && !$this->isBrief() && !$this->isToken();
    }

    /** Reports whether the token isn't accepted, or lacks a scope. */
    public function isToken(): bool
    {
        return in_array($this->status, [401, 403], true);
    }
}
