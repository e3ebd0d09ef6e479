@echo off
rem Double-click to start Allowance on Windows. The first time it makes an environment in your own folder.
setlocal
rem A folder on a network drive gets a letter.
pushd "%~dp0"
set "PLACE=%LOCALAPPDATA%\Allowance-program"

set "FOUND="
for %%P in ("py -3.14" "py -3.13" "py -3.12" "py -3.11" "py -3" "python") do (
    if not defined FOUND (
        %%~P -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && set "FOUND=%%~P"
    )
)
if not defined FOUND (
    echo Allowance needs Python 3.11 or newer: get it from python.org/downloads, then double-click this file again.
    goto stop
)

set "WHEEL="
for %%W in (allowance-*.whl) do set "WHEEL=%%W"
fc /b requirements.txt "%PLACE%\installed.txt" >nul 2>nul || goto setup
if defined WHEEL fc /b "%WHEEL%" "%PLACE%\installed.whl" >nul 2>nul || goto setup
goto start

:setup
echo Setting up Allowance in %PLACE%. This takes a few minutes, once.
if exist "%PLACE%" rmdir /s /q "%PLACE%"
%FOUND% -m venv "%PLACE%" || goto failed
"%PLACE%\Scripts\python" -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt || goto failed
if defined WHEEL (
    "%PLACE%\Scripts\python" -m pip install -q --disable-pip-version-check --no-deps "%WHEEL%" || goto failed
    copy /y "%WHEEL%" "%PLACE%\installed.whl" >nul || goto failed
)
copy /y requirements.txt "%PLACE%\installed.txt" >nul || goto failed

:start
"%PLACE%\Scripts\python" -m allowance %* && exit /b 0
echo Allowance has stopped: read the line above.
goto stop

:failed
echo Setting up did not work: close Allowance, connect to the internet and try again.

:stop
pause
exit /b 1
