"""Reports as text: the cells of lines that anybody wrote, and the whole numbers or bytes that cells spell.

A line ends with a line feed and with nothing else; a carriage return directly before it belongs to the end. Nothing
joins two lines or two cells, so that what one line holds cannot reach another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.kernels._compile import compiled

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: A number of more digits than this is no report, and would not fit 64 bits.
MOST_DIGITS = 18

_RETURN = 13
_FEED = 10
_QUOTE = 34
_NO_DIGIT = 255


def _digit_values() -> Bytes:
    """The value of each byte as a hexadecimal digit."""
    values = np.full(256, _NO_DIGIT, np.uint8)
    for value, digit in enumerate("0123456789abcdef"):
        values[[ord(digit), ord(digit.upper())]] = value
    return values


#: The value of each byte as a hexadecimal digit, 255 if it is none.
DIGITS = _digit_values()


@compiled
def count_lines(block: Bytes, delimiter: int, width: int, most: int) -> tuple[int, int]:
    """How many lines a block has, which ends with a whole one, and how many of them are fit to be read.

    Those have `width` cells, at most `most` bytes, and no return but before their end.
    """
    lines = fit = begin = 0
    cells = 1
    stray = False
    for i in range(block.size):
        byte = block[i]
        if byte == _FEED:
            lines += 1
            if cells == width and i - begin <= most and not stray:
                fit += 1
            begin = i + 1
            cells = 1
            stray = False
        elif byte == delimiter:
            cells += 1
        elif byte == _RETURN and block[i + 1] != _FEED:
            stray = True
    return lines, fit


@compiled
def find_cells(
    block: Bytes, delimiter: int, slots: Places, most: int, starts: NDArray[Any], ends: NDArray[Any]
) -> None:
    """Where the wanted cells of the lines that are fit to be read begin and end, without quotes around them.

    `slots` says for each cell of a line in which row of `starts` and `ends` it is wanted, or −1.
    """
    width = slots.size
    line = cell = begin = first_byte = 0
    stray = False
    for i in range(block.size):
        byte = block[i]
        if byte == _RETURN and block[i + 1] != _FEED:
            stray = True
        over = byte == _FEED
        if not over and byte != delimiter:
            continue
        end = i
        if over and end > begin and block[end - 1] == _RETURN:
            end -= 1
        if cell < width and slots[cell] >= 0 and line < starts.shape[1]:
            first = begin
            if end - first > 1 and block[first] == _QUOTE and block[end - 1] == _QUOTE:
                first += 1
                end -= 1
            starts[slots[cell], line] = first
            ends[slots[cell], line] = end
        cell += 1
        begin = i + 1
        if over:
            # A line that is not fit is written over by the next one.
            if cell == width and i - first_byte <= most and not stray:
                line += 1
            first_byte = i + 1
            cell = 0
            stray = False


@compiled
def decimals(data: Bytes, starts: Places, ends: Places, most: int, numbers: NDArray[Any], readable: Bools) -> None:
    """Write the whole numbers 0..most that cells spell in digits, and which cells do."""
    for i in range(starts.size):
        size = ends[i] - starts[i]
        number = np.int64(0)
        fine = 0 < size <= MOST_DIGITS
        if fine:
            for j in range(starts[i], ends[i]):
                digit = np.int64(data[j]) - 48
                if digit < 0 or digit > 9:
                    fine = False
                number = 10 * number + digit
        fine = fine and 0 <= number <= most
        readable[i] = fine
        numbers[i] = number if fine else 0


@compiled
def hexadecimals(data: Bytes, starts: Places, ends: Places, digits: Bytes, rows: Bytes, readable: Bools) -> None:
    """Write the bytes that cells spell in two hexadecimal digits each, and which cells do."""
    width = rows.shape[1]
    for i in range(starts.size):
        fine = ends[i] - starts[i] == 2 * width
        if fine:
            for j in range(width):
                high = digits[data[starts[i] + 2 * j]]
                low = digits[data[starts[i] + 2 * j + 1]]
                fine = fine and high < 16 and low < 16
                rows[i, j] = (high << 4) | (low & 15)
        if not fine:
            rows[i] = 0
        readable[i] = fine
